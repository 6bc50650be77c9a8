package egress

import "net/netip"

// Public reports whether an address is one of the public Internet: none that IANA keeps for a special purpose
// (https://www.iana.org/assignments/iana-ipv4-special-registry, iana-ipv6-special-registry), and none that a cloud
// answers its own machines at. An address translated by NAT64 is judged by the one it stands for (RFC 6052).
func Public(a netip.Addr) bool {
	if a.Zone() != "" || !a.IsValid() {
		return false
	}
	if nat64.Contains(a) {
		b := a.As16()
		a = netip.AddrFrom4([4]byte(b[12:]))
	}
	if a.Is4() {
		return !within(a, special4)
	}
	// Of IPv6 only 2000::/3 is handed out; mapped, local, multicast and reserved addresses lie outside it.
	return global6.Contains(a) && !within(a, special6)
}

var (
	nat64   = netip.MustParsePrefix("64:ff9b::/96")
	global6 = netip.MustParsePrefix("2000::/3")

	special4 = prefixes(
		"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
		"192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.168.0.0/16", "192.175.48.0/24",
		"198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
		"168.63.129.16/32", // Azure's machines reach their host there
	)
	special6 = prefixes(
		"2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20",
	)
)

func prefixes(list ...string) []netip.Prefix {
	out := make([]netip.Prefix, len(list))
	for i, p := range list {
		out[i] = netip.MustParsePrefix(p)
	}
	return out
}

func within(a netip.Addr, list []netip.Prefix) bool {
	for _, p := range list {
		if p.Contains(a) {
			return true
		}
	}
	return false
}
