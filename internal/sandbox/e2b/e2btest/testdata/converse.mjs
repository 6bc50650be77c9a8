// A conversation of E2B's official SDK with a server, from create to kill. Each step says its name when it has held.
import assert from 'node:assert/strict'

const sdk = await import(process.argv[2])
const { Sandbox } = sdk

let sbx
const kept = {}
const until = async (what, holds) => {
  for (let i = 0; i < 200; i++) {
    if (await holds()) return
    await new Promise((done) => setTimeout(done, 50))
  }
  assert.fail(`never: ${what}`)
}

const steps = {
  async create() {
    sbx = await Sandbox.create({ metadata: { owner: 'joy-1', kind: 'sdk' }, envs: { FROM_CREATE: 'c' }, timeoutMs: 60_000 })
    assert.match(sbx.sandboxId, /^i[a-z0-9]{19}$/)
    assert.equal(await sbx.isRunning(), true)
  },
  async 'two streams'() {
    const r = await sbx.commands.run('echo out; echo err >&2')
    assert.deepEqual([r.stdout, r.stderr, r.exitCode], ['out\n', 'err\n', 0])
  },
  async 'exit code'() {
    await assert.rejects(sbx.commands.run('echo why >&2; exit 7'), (e) => e.exitCode === 7 && e.stderr === 'why\n')
  },
  async 'missing program'() {
    await assert.rejects(sbx.commands.run('no-such-program'), (e) => e.exitCode === 127)
  },
  async environment() {
    const r = await sbx.commands.run('echo $FROM_CREATE $FROM_RUN $E2B_SANDBOX $HOME', { envs: { FROM_RUN: 'r' } })
    assert.equal(r.stdout, 'c r true /home/user\n')
  },
  async 'working directory'() {
    assert.equal((await sbx.commands.run('pwd', { cwd: '/tmp' })).stdout, '/tmp\n')
    await assert.rejects(sbx.commands.run('pwd', { cwd: '/nowhere' }), sdk.InvalidArgumentError)
  },
  async users() {
    assert.equal((await sbx.commands.run('id -un')).stdout, 'user\n')
    assert.equal((await sbx.commands.run('id -un; id -u', { user: 'root' })).stdout, 'root\n0\n')
    await assert.rejects(sbx.commands.run('id', { user: 'nobody-here' }), sdk.AuthenticationError)
  },
  async 'no network and no host'() {
    const r = await sbx.commands.run('ls /sys/class/net; ls / | tr "\\n" " "; ps -o args | wc -l')
    assert.match(r.stdout, /^lo\n/)
    assert.ok(!/\bwork\b|\bboot\b/.test(r.stdout), r.stdout)
  },
  async 'callbacks while it runs'() {
    const seen = []
    const r = await sbx.commands.run('for i in 1 2 3; do echo $i; sleep 0.1; done', { onStdout: (s) => seen.push(s) })
    assert.equal(r.stdout, '1\n2\n3\n')
    assert.ok(seen.length >= 2, `streamed in ${seen.length}`)
  },
  async 'standard input'() {
    const cat = await sbx.commands.run('cat', { background: true, stdin: true })
    await sbx.commands.sendStdin(cat.pid, 'hallo\n')
    await sbx.commands.sendStdin(cat.pid, 'wörld\n')
    await sbx.commands.closeStdin(cat.pid)
    assert.equal((await cat.wait()).stdout, 'hallo\nwörld\n')
  },
  async 'background and list'() {
    kept.sleeper = await sbx.commands.run('exec sleep 1234', { background: true })
    await until('it is listed', async () => (await sbx.commands.list()).some((p) => p.pid === kept.sleeper.pid))
  },
  async 'connect to a process'() {
    const talker = await sbx.commands.run('read x; echo got $x', { background: true, stdin: true })
    await talker.disconnect()
    const again = await sbx.commands.connect(talker.pid)
    await sbx.commands.sendStdin(talker.pid, 'it\n')
    assert.equal((await again.wait()).stdout, 'got it\n')
  },
  async 'kill a process'() {
    assert.equal(await sbx.commands.kill(kept.sleeper.pid), true)
    await assert.rejects(kept.sleeper.wait(), (e) => e instanceof sdk.CommandExitError)
    assert.equal(await sbx.commands.kill(999999), false)
    assert.ok(!(await sbx.commands.list()).some((p) => p.pid === kept.sleeper.pid))
  },
  async 'command timeout'() {
    await assert.rejects(sbx.commands.run('sleep 30', { timeoutMs: 500 }), sdk.TimeoutError)
  },
  async 'text file'() {
    const info = await sbx.files.write('deep/er/text.txt', 'grüß dich\n')
    assert.equal(info.path, '/home/user/deep/er/text.txt')
    assert.equal(await sbx.files.read('/home/user/deep/er/text.txt'), 'grüß dich\n')
    assert.equal((await sbx.commands.run('stat -c "%U %a" deep/er/text.txt')).stdout, 'user 644\n')
  },
  async 'binary file'() {
    kept.bytes = Uint8Array.from({ length: 1 << 18 }, (_, i) => (i * i + (i >> 7)) & 255)
    await sbx.files.write('/tmp/b.bin', new Blob([kept.bytes]))
    assert.deepEqual(await sbx.files.read('/tmp/b.bin', { format: 'bytes' }), kept.bytes)
    assert.equal((await sbx.commands.run('wc -c </tmp/b.bin')).stdout.trim(), String(kept.bytes.length))
  },
  async 'octet stream and gzip'() {
    const upload = { useOctetStream: true, gzip: true }
    await sbx.files.write('/tmp/o.bin', new Blob([kept.bytes]), upload)
    assert.equal((await sbx.commands.run('cmp /tmp/b.bin /tmp/o.bin && echo same')).stdout, 'same\n')
  },
  async 'several files'() {
    const infos = await sbx.files.write([{ path: 'm/a', data: 'A' }, { path: 'm/b', data: 'B' }])
    assert.deepEqual(infos.map((i) => i.path), ['/home/user/m/a', '/home/user/m/b'])
  },
  async 'list a directory'() {
    const entries = await sbx.files.list('/home/user/m')
    assert.deepEqual(entries.map((e) => [e.name, e.type, Number(e.size)]), [['a', 'file', 1], ['b', 'file', 1]])
    const deep = await sbx.files.list('/home/user', { depth: 3 })
    assert.ok(deep.some((e) => e.path === '/home/user/deep/er/text.txt'))
  },
  async 'make, stat, rename, exist'() {
    assert.equal(await sbx.files.makeDir('new'), true)
    assert.equal(await sbx.files.makeDir('new'), false)
    await sbx.files.rename('m/a', 'new/renamed')
    const info = await sbx.files.getInfo('new/renamed')
    assert.deepEqual([info.name, info.owner, info.permissions], ['renamed', 'user', '-rw-r--r--'])
    assert.equal(await sbx.files.exists('m/a'), false)
    assert.equal(await sbx.files.exists('new/renamed'), true)
  },
  async remove() {
    await sbx.files.remove('new')
    assert.equal(await sbx.files.exists('new'), false)
    await sbx.files.remove('new')
  },
  async 'not found'() {
    await assert.rejects(sbx.files.read('nope'), sdk.NotFoundError)
    await assert.rejects(sbx.files.list('nope'), sdk.NotFoundError)
    await assert.rejects(sbx.files.getInfo('nope'), sdk.NotFoundError)
    await assert.rejects(sbx.files.rename('nope', 'other'), sdk.NotFoundError)
  },
  async watch() {
    const events = []
    await sbx.files.makeDir('/home/user/watched')
    const handle = await sbx.files.watchDir('/home/user/watched', (e) => events.push(`${e.type} ${e.name}`))
    await sbx.files.write('watched/w.txt', 'x')
    await until('the event', async () => events.includes('create w.txt') && events.includes('write w.txt'))
    await handle.stop()
  },
  async terminal() {
    let said = ''
    const pty = await sbx.pty.create({ cols: 91, rows: 31, onData: (d) => (said += new TextDecoder().decode(d)) })
    await sbx.pty.sendInput(pty.pid, new TextEncoder().encode('stty size; exit 3\n'))
    await assert.rejects(pty.wait(), (e) => e.exitCode === 3)
    assert.match(said, /31 91/)
  },
  async information() {
    const info = await sbx.getInfo()
    assert.deepEqual([info.sandboxId, info.state, info.metadata], [sbx.sandboxId, 'running', { owner: 'joy-1', kind: 'sdk' }])
    kept.end = info.endAt.getTime()
  },
  async 'set timeout'() {
    await sbx.setTimeout(600_000)
    assert.ok((await sbx.getInfo()).endAt.getTime() > kept.end + 500_000)
  },
  async 'list by metadata'() {
    const other = await Sandbox.create({ metadata: { owner: 'joy-2' } })
    const page = Sandbox.list({ query: { metadata: { owner: 'joy-1' }, state: ['running'] } })
    const found = await page.nextItems()
    assert.deepEqual(found.map((s) => s.sandboxId), [sbx.sandboxId])
    assert.equal(page.hasNext, false)
    const pages = Sandbox.list({ limit: 1 })
    const all = [...(await pages.nextItems()), ...(await pages.nextItems())]
    assert.deepEqual(all.map((s) => s.sandboxId), [other.sandboxId, sbx.sandboxId])
    assert.equal(pages.hasNext, false)
    assert.equal(await other.kill(), true)
  },
  async 'connect by id'() {
    const same = await Sandbox.connect(sbx.sandboxId)
    assert.equal((await same.commands.run('cat deep/er/text.txt')).stdout, 'grüß dich\n')
  },
  async 'unknown sandbox'() {
    await assert.rejects(Sandbox.connect('i0000000000000000000'), sdk.NotFoundError)
    await assert.rejects(Sandbox.create('no-such-template'), sdk.SandboxError)
    assert.equal(await Sandbox.kill('i0000000000000000000'), false)
  },
  async 'wrong key'() {
    await assert.rejects(Sandbox.create({ apiKey: 'e2b_' + '0'.repeat(40) }), sdk.AuthenticationError)
  },
  async kill() {
    assert.equal(await sbx.kill(), true)
    assert.equal(await sbx.isRunning(), false)
    await assert.rejects(sbx.commands.run('true'), sdk.NotFoundError)
    await assert.rejects(sbx.getInfo(), sdk.NotFoundError)
    assert.equal(await sbx.kill(), false)
  },
}

for (const [name, step] of Object.entries(steps)) {
  try {
    await step()
  } catch (e) {
    console.error(`${name}:`, e)
    process.exit(1)
  }
  console.log(name)
}
