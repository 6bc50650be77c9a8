"""A second verifier of joy's ledgers, written from docs/ledger-format.md alone, on nothing but Python 3.8:
verify.py LEDGER [SEAL] says what a ledger is, verify.py --vectors FILE holds this verifier to vectors.json."""
import base64, datetime, hashlib, json, os, re, sys
TYPES = set("""run.started run.waiting run.resumed run.finished run.sealed step.started step.finished step.skipped
sandbox.requested sandbox.created sandbox.destroyed sandbox.lost command.started command.finished file.written file.read
model.requested model.replied tool.requested tool.returned tool.denied tool.drifted egress.allowed egress.closed egress.denied
artifact.stored artifact.skipped artifact.quarantined scrub.found token.issued token.revoked approval.requested
approval.granted approval.denied ledger.recovered""".split())
DIGEST, RUN = r"sha256:[0-9a-f]{64}", r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}"
SEAL = re.compile(rf"joy-ledger/([^/\s]+)/({RUN})\n([1-9][0-9]*)\n([A-Za-z0-9+/]+=)\nhead ({DIGEST})\nplan ({DIGEST})\n", re.A)
KEYS = ["seq", "time", "run", "type", "step", "data", "prev", "hash"]
sha256 = lambda b: hashlib.sha256(b).digest()
class Bad(Exception): pass
def need(ok, why):
    if not ok: raise Bad(why)

# The form of a line: what it says, written again, must be the line.
def pairs(items):
    need(len(items) == len(dict(items)), "a key comes twice")
    return dict(items)
def no(text): raise Bad(text + " is no value of an entry")
def settle(v, depth=0):
    need(depth <= 64, "nested too deep")
    if isinstance(v, dict): return {k: settle(v[k], depth + 1) for k in sorted(v, key=lambda k: k.encode())}
    if isinstance(v, list): return [settle(x, depth + 1) for x in v]
    need(isinstance(v, (str, bool)) or isinstance(v, int) and abs(v) < 2**53, "a value that no entry has")
    return v
def parse(raw):
    try:
        e = json.loads(raw.decode(), object_pairs_hook=pairs, parse_float=no, parse_constant=no)
        need(isinstance(e, dict) and list(e) == [k for k in KEYS if k in e and (k != "step" or e["step"])], "keys")
        need(set(KEYS) - set(e) <= {"step"} and type(e["seq"]) is int and isinstance(e["data"], dict), "no entry")
        need(all(isinstance(e[k], str) for k in e if k not in ("seq", "data")), "no text")
        need(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", e["time"], re.A), "time")
        datetime.datetime.fromisoformat(e["time"][:-1])
        e["data"] = settle(e["data"])
        need(json.dumps(e, ensure_ascii=False, separators=(",", ":")).encode() == raw, "not in canonical form")
    except (ValueError, KeyError, RecursionError) as err: raise Bad(str(err))
    return e

# The tree of RFC 6962.
leaf = lambda line: sha256(b"\0" + line)
node = lambda a, b: sha256(b"\1" + a + b)
def root(leaves):
    if len(leaves) == 1: return leaves[0]
    k = 1 << (len(leaves) - 1).bit_length() - 1
    return node(root(leaves[:k]), root(leaves[k:]))
def climb(h, index, size, path):
    last = size - 1
    for p in path:
        need(last, "a path too long")
        if index & 1 or index == last:
            h = node(p, h)
            while index and not index & 1: index, last = index >> 1, last >> 1
        else: h = node(h, p)
        index, last = index >> 1, last >> 1
    need(not last, "a path too short")
    return h

# Ed25519, RFC 8032, section 5.1.
P, L = 2**255 - 19, 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
def add(a, b):
    A, B = (a[1] - a[0]) * (b[1] - b[0]) % P, (a[1] + a[0]) * (b[1] + b[0]) % P
    C, E = 2 * a[3] * b[3] * D % P, 2 * a[2] * b[2] % P
    return (B - A) * (E - C) % P, (E + C) * (B + A) % P, (E - C) * (E + C) % P, (B - A) * (B + A) % P
def times(n, p):
    q = (0, 1, 1, 0)
    while n: q, p, n = add(q, p) if n & 1 else q, add(p, p), n >> 1
    return q
def point(b):
    y, sign = int.from_bytes(b, "little") & (1 << 255) - 1, b[31] >> 7
    x2 = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(x2, (P + 3) // 8, P)
    x = x if (x * x - x2) % P == 0 else x * pow(2, (P - 1) // 4, P) % P
    need(y < P and (x * x - x2) % P == 0, "no point")
    x = x if x & 1 == sign else P - x
    return x, y, 1, x * y % P
G = point((4 * pow(5, P - 2, P) % P).to_bytes(32, "little"))
def signed(note, key):
    """The text of a note, which key has signed."""
    (text, _, signatures), (name, number, public) = note.rpartition("\n\n"), key.split("+", 2)
    text, public = text + "\n", base64.b64decode(public, validate=True)
    need(public[0] == 1 and sha256(name.encode() + b"\n" + public)[:4].hex() == number, "no key")
    for line in signatures.splitlines():
        if line.startswith("— " + name + " "):
            s = base64.b64decode(line.rpartition(" ")[2], validate=True)
            if s[:4].hex() == number and len(s) == 68:
                r, n, a = s[4:36], int.from_bytes(s[36:], "little"), public[1:]
                k = int.from_bytes(hashlib.sha512(r + a + text.encode()).digest(), "little") % L
                x, y = times(n, G), add(point(r), times(k, point(a)))
                need(n < L and all((x[i] * y[2] - y[i] * x[2]) % P == 0 for i in (0, 1)), "a wrong signature")
                need(SEAL.fullmatch(text), "no seal")
                return SEAL.fullmatch(text).groups()
    raise Bad("not signed with this key")

# What a ledger is.
def follow(e, raw, prev, last, done):
    need(e["seq"] == (last["seq"] + 1 if last else 1) and e["hash"] == "sha256:" + sha256(raw[: raw.rindex(b',"hash":')]).hex(), "hash")
    need(e["prev"] == prev if last else re.fullmatch(DIGEST, e["prev"]) and re.fullmatch(RUN, e["run"]), "prev")
    need(e["type"] in TYPES and (e["type"] == "run.started") == (not last), "type")
    need(not last or e["run"] == last["run"] and e["time"] >= last["time"] and last["type"] != "run.sealed", "order")
    need(not done or e["type"] in ("run.sealed", "ledger.recovered"), "after the end")
    need(e["type"] != "run.sealed" or done or e["data"].get("recovered") is True, "sealed before the end")
def check(data, seal=None, key=None, head=None):
    lines = data.split(b"\n")
    torn, first, last, prev, done, leaves = lines.pop(), None, None, "", False, []
    is_ = lambda state, line=0: (state, line, last["seq"] if last else 0, last["hash"] if last else "")
    for i, raw in enumerate(lines, 1):
        try:
            need(len(raw) < 16 << 20, "too long")
            follow(e := parse(raw), raw, prev, last, done)
        except Bad: return is_("broken", i)
        first, last, prev, done = first or e, e, e["hash"], done or e["type"] == "run.finished"
        leaves.append(leaf(raw))
    sealed, at = bool(last) and last["type"] == "run.sealed", len(lines) + 1 if torn else 0
    if torn and (sealed or len(torn) > 16 << 20): return is_("broken", at)
    if seal is not None:
        try:
            need(sealed, "there is no run.sealed")
            says = signed(seal, last["data"].get("key", ""))
            signed(seal, key or last["data"]["key"])
            so = (first["data"].get("workspace", says[0]), last["run"], str(last["seq"]), base64.b64encode(root(leaves)).decode())
            need(says == so + (last["hash"], first["prev"]), "the seal is of something else")
        except (Bad, ValueError): return is_("broken", at)
    if head and (not last or head != last["hash"]): return is_("broken")
    done = done and not (sealed and last["data"].get("recovered") is True)
    return is_("complete" if done and not torn and (seal or head and not key) else "incomplete", at)
def check_proof(p, key=None):
    try:
        e, raw = parse(p["line"].encode()), p["line"].encode()
        says = signed(p["seal"], key or p["key"])
        need(e["hash"] == "sha256:" + sha256(raw[: raw.rindex(b',"hash":')]).hex() and e["run"] == says[1], "line")
        need(e["seq"] == p["index"] + 1 <= p["size"] and str(p["size"]) == says[2], "place")
        path = [base64.b64decode(h, validate=True) for h in p["hashes"]]
        need(base64.b64encode(climb(leaf(raw), p["index"], p["size"], path)).decode() == says[3], "root")
    except (Bad, ValueError): return "broken", 0, 0, ""
    return "complete", 0, e["seq"], e["hash"]
def read(name, binary=False):
    with open(name, "rb") as f: return f.read() if binary else f.read().decode()
if sys.argv[1] == "--vectors":
    vectors, wrong = json.loads(read(sys.argv[2])), 0
    for v in vectors:
        if "proof" in v: got = check_proof(json.loads(read(v["proof"])), v.get("key"))
        else: got = check(read(v["ledger"], True), read(v["seal"]) if "seal" in v else None, v.get("key"), v.get("given_head"))
        if got != (v["state"], v["line"], v["entries"], v["head"]):
            wrong += print(v["name"], "is", v["state"], v["line"], v["entries"], "and not", got) is None
    print(len(vectors), "vectors agree" if not wrong else "vectors, %d of them wrong" % wrong)
    sys.exit(wrong > 0)
print(*check(read(sys.argv[1], True), *map(read, sys.argv[2:3])))
