#!/usr/bin/env python3
"""Tries the ways out of a VM and says what came of each: at the broker's door, and past it."""

import base64
import ctypes
import json
import os
import socket
import ssl
import stat

TOKEN = os.environ["JOY_RUN_TOKEN"].encode()
BASIC = base64.b64encode(b"joy:" + TOKEN)
DOOR = ("127.0.0.1", 569)


def head_of(sock):
    """The first line of an answer, having read its head whole."""
    seen = b""
    while b"\r\n\r\n" not in seen and len(seen) < 65536:
        more = sock.recv(1)
        if not more:
            break
        seen += more
    return seen.split(b"\r\n")[0].decode("latin-1")


def drain(sock):
    """How many bytes still come until the other side is done."""
    count = 0
    try:
        sock.shutdown(socket.SHUT_WR)
        while more := sock.recv(65536):
            count += len(more)
    except OSError:
        pass  # cut
    return count


def at_the_door(attempt):
    head = base64.b64decode(attempt["head"]).replace(b"TOKEN", TOKEN).replace(b"BASIC", BASIC)
    with socket.create_connection(DOOR, timeout=120) as sock:
        sock.sendall(head)
        line = head_of(sock)
        if " 200 " not in line:
            drain(sock)
            return line
        if name := attempt.get("tls"):
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
            try:
                with context.wrap_socket(sock, server_hostname=None if name == "-" else name):
                    return "open"
            except OSError:
                return "cut"
        sock.sendall(base64.b64decode(attempt.get("then", "")))
        return "cut" if drain(sock) == 0 else "open"


def connect(host, port):
    with socket.create_connection((host, port), timeout=5):
        return "open"


def send(family, host, port):
    with socket.socket(family, socket.SOCK_DGRAM) as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
        sock.sendto(b"x", (host, port))
        return "sent"


def make(family, kind, protocol=0):
    with socket.socket(family, kind, protocol):
        return "made"


def ping(host):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM, socket.IPPROTO_ICMP) as sock:
        sock.sendto(b"\x08\x00\x00\x00\x00\x00\x00\x00", (host, 0))
        return "sent"


def vsock(cid):
    with socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM) as sock:
        sock.settimeout(5)
        sock.connect((cid, 569))
        return "open"


def system(name, *args):
    libc = ctypes.CDLL(None, use_errno=True)
    if getattr(libc, name)(*args) == 0:
        return "done"
    raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def device(path):
    with open(path, "rb") as file:
        if file.read(1):
            return "read"
    raise OSError("there is nothing in it")


def node():
    os.mknod("/tmp/port", stat.S_IFCHR | 0o600, os.makedev(1, 4))
    return "made"


PAST_THE_DOOR = {
    **{
        f"TCP {host} {port}": (connect, host, port)
        for host, port in [
            ("93.184.216.34", 443), ("8.8.8.8", 53), ("1.1.1.1", 853), ("10.0.2.2", 80), ("10.0.2.3", 53), ("192.168.0.1", 80),
            ("169.254.169.254", 80), ("100.100.100.200", 80), ("168.63.129.16", 80), ("2606:4700::1111", 443), ("::ffff:8.8.8.8", 443),
            ("64:ff9b::808:808", 443), ("fd00:ec2::254", 80), ("fe80::1%lo", 80), ("134744072", 443), ("010.8.010.8", 443), ("0x8.0x8.8.8", 443),
            ("2130706433", 22), ("0177.0.0.1", 443), ("0x7f.1", 80), ("127.0.0.1", 22), ("127.0.0.2", 569), ("::1", 569), ("localhost", 443),
            ("files.example.com", 443), ("host.docker.internal", 80), ("metadata.google.internal", 80),
        ]
    },
    **{
        f"UDP {host} {port}": (send, family, host, port)
        for family, host, port in [
            (socket.AF_INET, "8.8.8.8", 53), (socket.AF_INET, "10.0.2.3", 53), (socket.AF_INET, "255.255.255.255", 67),
            (socket.AF_INET, "224.0.0.251", 5353), (socket.AF_INET6, "2606:4700::1111", 53),
        ]
    },
    "ping": (ping, "8.8.8.8"),
    "raw IP": (make, socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP),
    "raw IPv6": (make, socket.AF_INET6, socket.SOCK_RAW, 58),
    "packets": (make, socket.AF_PACKET, socket.SOCK_RAW),
    "vsock to the host": (vsock, 2),
    "vsock to the hypervisor": (vsock, 0),
    "a network of its own": (system, "unshare", 0x40000000),
    "users of its own": (system, "unshare", 0x10000000),
    "I/O ports": (system, "iopl", 3),
    "a device of its own": (node,),
    **{
        path: (device, path)
        for path in [
            "/dev/vport0p1", "/dev/vport1p1", "/dev/hvc0", "/dev/ttyS0", "/dev/vda", "/dev/vdb", "/dev/mem", "/dev/port", "/dev/kmsg",
            "/dev/net/tun", "/dev/vsock", "/dev/vhost-vsock", "/proc/kcore", "/dev/fuse",
        ]
    },
}


def past_the_door(call, *args):
    try:
        return call(*args)
    except OSError as err:
        return f"refused: {err}"


def open_ports():
    found = []
    for port in range(1, 2000):
        with socket.socket() as sock:
            if sock.connect_ex(("127.0.0.1", port)) == 0:
                found.append(port)
    return found


def main():
    with open(os.environ["JOY_SKILL_DIR"] + "/attempts.json", encoding="utf-8") as file:
        attempts = json.load(file)
    report = {"door": {a["name"]: at_the_door(a) for a in attempts}}
    if os.environ["JOY_SKILL_DIR"].endswith("/out"):
        report["past"] = {name: past_the_door(*call) for name, call in PAST_THE_DOOR.items()}
        report["ports"] = open_ports()
        report["devices"] = sorted(os.listdir("/sys/class/net"))
        with open("/proc/net/route", encoding="ascii") as file:
            report["routes"] = file.read().splitlines()[1:]
    with open("/workspace/out/report.json", "w", encoding="utf-8") as file:
        json.dump(report, file)
    print("{}")


main()
