/*
 * Load on a whole server: `signalbox serve` over SQLite with full durability, receivers in a second process, and this
 * process publishing over HTTP. Prints rates, lag from acknowledged to received, and what each delivery cost the server.
 *
 *   node test/bench/load/delivery-load.mjs [--endpoints N] [--publishers N] [--rate N] [--seconds N] [--hang N]
 *                                          [--fail N] [--slow N] [--workspaces N] [--warmUp N] [--json] [--floor]
 *
 * --floor measures floor-server.mjs in place of the server: one endpoint, and none of what the server does beside delivering.
 * --rate 0 publishes as fast as the server accepts. --warmUp is the number of events before the measurement: V8 has compiled
 * everything after some ten thousand. `npm run build` first.
 */
import { fork, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const root = join(import.meta.dirname, '../../..');

export async function deliveryLoad(options) {
  const {
    endpoints = 1,
    publishers = 64,
    rate = 0,
    seconds = 5,
    hang = 0,
    fail = 0,
    slow = 0,
    workspaces = 1,
  } = options;
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-load-'));
  const receivers = await startReceivers(endpoints, { hang, fail, slow });
  const server = await startServer(folder, options);
  const agent = new Agent({ keepAlive: true, maxSockets: publishers });
  const post = (path, document) => send(agent, server.port, path, document);
  try {
    for (let n = 0; n < workspaces; n += 1) await configure(post, n, receivers.ports, workspaces);
    const acknowledged = new Map();
    const publishOne = async (number) => {
      const run = `run-${number}`;
      const attributes = sampleEvent(run);
      const path = `/workspaces/ws-${number % workspaces}/notification-events`;
      const status = await post(path, { data: { type: 'notification-events', attributes } });
      if (status === 202) acknowledged.set(run, now());
      return status;
    };
    await warmUp(publishOne, receivers, publishers, options.warmUp ?? 300);
    acknowledged.clear();
    await receivers.take();

    const before = usage(server.pid);
    const began = now();
    const statuses = await publish(publishOne, { publishers, rate, seconds });
    const published = now();
    const accepted = acknowledged.size;
    const reached = endpoints - hang - fail;
    const perEvent = reached / workspaces;
    await receivers.drained(accepted * perEvent, options.patience ?? 60_000);
    const drained = now();
    await new Promise((resolve) => setTimeout(resolve, 300));
    const used = difference(usage(server.pid), before);
    const arrivals = await receivers.take();
    const slowOnes = new Set(Array.from({ length: slow }, (_none, n) => hang + fail + n));
    const lags = arrivals
      .filter(([endpoint]) => !slowOnes.has(endpoint))
      .map(([, run, at]) => at - (acknowledged.get(run) ?? Number.NaN))
      .filter((lag) => !Number.isNaN(lag))
      .sort((a, b) => a - b);
    const delivered = arrivals.length;
    return {
      accepted,
      refused: statuses.get('refused') ?? 0,
      acceptedPerSecond: round(accepted / ((published - began) / 1000)),
      delivered,
      deliveredPerSecond: round(delivered / ((drained - began) / 1000)),
      lag: { p50: quantile(lags, 0.5), p99: quantile(lags, 0.99), max: quantile(lags, 1) },
      cpuMicroseconds: round((used.cpu * 1e6) / delivered),
      bytesWritten: round(used.wchar / delivered),
      writeCalls: round(used.syscw / delivered),
      diskBytes: round(used.diskBytes / delivered),
      memoryMiB: round(rss(server.pid) / 1048576),
    };
  } finally {
    agent.destroy();
    receivers.stop();
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function publish(publishOne, { publishers, rate, seconds }) {
  const statuses = new Map();
  const until = now() + seconds * 1000;
  let number = 0;
  const count = (status) => {
    if (status !== 202) statuses.set('refused', (statuses.get('refused') ?? 0) + 1);
  };
  if (rate === 0) {
    const worker = async () => {
      while (now() < until) count(await publishOne(number++));
    };
    await Promise.all(Array.from({ length: publishers }, worker));
    return statuses;
  }
  const began = now();
  const open = new Set();
  for (let next = 0; next < rate * seconds; next += 1) {
    const due = began + (next * 1000) / rate;
    while (now() < due) await new Promise((resolve) => setTimeout(resolve, Math.max(0, Math.floor(due - now()))));
    const one = publishOne(number++)
      .then(count)
      .finally(() => open.delete(one));
    open.add(one);
    if (open.size >= publishers) await Promise.race(open);
  }
  await Promise.all(open);
  return statuses;
}

async function warmUp(publishOne, receivers, publishers, count) {
  let number = 0;
  const worker = async () => {
    while (number < count) await publishOne(`warm-${number++}`.replace('warm-', '9000'));
  };
  await Promise.all(Array.from({ length: Math.min(publishers, 8) }, worker));
  await receivers.drained(1, 5000);
  await new Promise((resolve) => setTimeout(resolve, 1000));
}

async function configure(post, number, ports, workspaces) {
  for (const [index, port] of ports.entries()) {
    if (index % workspaces !== number) continue;
    const attributes = {
      'destination-type': 'generic',
      name: `hook ${index}`,
      url: `http://127.0.0.1:${port}/hook`,
      token: 'a-secret-of-some-length',
      enabled: true,
      triggers: ['run:errored'],
    };
    const disabled = { ...attributes, enabled: false };
    const path = `/workspaces/ws-${number}/notification-configurations`;
    const status = await post(path, { data: { type: 'notification-configurations', attributes } });
    if (status !== 201) throw new Error(`a configuration was answered with ${status}: ${JSON.stringify(disabled)}`);
  }
}

/** A body of about 960 bytes. */
function sampleEvent(run) {
  return {
    trigger: 'run:errored',
    message: 'Run Errored',
    run_id: run,
    run_url: `https://tf.example.net/app/acme/workspaces/net/runs/${run}`,
    run_message: 'Widen the subnet. '.repeat(25),
    run_created_at: '2026-01-02T03:04:05.000Z',
    run_created_by: 'dana',
    run_status: 'errored',
    run_updated_at: '2026-01-02T03:04:31.000Z',
  };
}

function send(agent, port, path, document) {
  const body = JSON.stringify(document);
  return new Promise((resolve, reject) => {
    const outgoing = request(
      {
        agent,
        port,
        path,
        host: '127.0.0.1',
        method: 'POST',
        headers: { 'content-type': 'application/vnd.api+json', 'content-length': Buffer.byteLength(body) },
      },
      (response) => {
        response.resume();
        response.on('end', () => resolve(response.statusCode));
      },
    );
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

async function startReceivers(endpoints, { hang, fail, slow }) {
  const child = fork(join(import.meta.dirname, 'receivers.mjs'), { stdio: 'inherit' });
  const ask = (message) =>
    new Promise((resolve) => {
      child.once('message', resolve);
      child.send(message);
    });
  const behaviours = Array.from({ length: endpoints }, (_none, n) =>
    n < hang ? 'hang' : n < hang + fail ? 'fail' : n < hang + fail + slow ? 'slow' : 'good',
  );
  // Verification needs an answer: the bad ones behave well for requests without a run.
  const { ports } = await ask({ open: behaviours });
  return {
    ports,
    take: async () => (await ask('take')).arrivals,
    drained: async (expected, patience) => {
      const until = now() + patience;
      for (;;) {
        const { count } = await ask('count');
        if (count >= expected || now() > until) return;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    },
    stop: () => child.kill(),
  };
}

async function startServer(folder, options) {
  const seed = join(folder, 'seed.json');
  const { writeFileSync } = await import('node:fs');
  const workspaces = Array.from({ length: options.workspaces ?? 1 }, (_none, n) => ({
    id: `ws-${n}`,
    name: `net ${n}`,
    organization: 'acme',
  }));
  writeFileSync(seed, JSON.stringify({ workspaces }));
  const args = [
    ...(options.node ?? []),
    options.floor === true ? join(import.meta.dirname, 'floor-server.mjs') : join(root, 'dist/cli.js'),
    'serve',
    ...['--listen', '127.0.0.1:0', '--store', `sqlite:${join(folder, 'load.db')}`, '--access', 'open'],
    ...['--seed', seed, '--allow-outbound', '127.0.0.0/8', '--no-runner', ...(options.serve ?? [])],
  ];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'], cwd: options.cwd ?? folder });
  const port = await new Promise((resolve, reject) => {
    let text = '';
    child.stdout.on('data', (chunk) => {
      text += chunk;
      const found = /127\.0\.0\.1:(\d+)/.exec(text);
      if (found !== null) resolve(Number(found[1]));
    });
    child.once('exit', (code) => reject(new Error(`the server ended with ${code}`)));
  });
  return {
    port,
    pid: child.pid,
    stop: () =>
      new Promise((resolve) => {
        child.removeAllListeners('exit');
        child.once('exit', resolve);
        child.kill('SIGTERM');
        setTimeout(() => child.kill('SIGKILL'), 15_000).unref();
      }),
  };
}

/*
 * Processor time is summed over the threads from what the scheduler counts in nanoseconds. The times of `/proc/PID/stat`
 * are sampled by the timer interrupt, and work that comes every ten milliseconds is in step with it.
 */
function usage(pid) {
  const io = Object.fromEntries(
    readFileSync(`/proc/${pid}/io`, 'utf8')
      .trim()
      .split('\n')
      .map((line) => line.split(': ')),
  );
  return {
    cpu: processorSeconds(pid),
    wchar: Number(io.wchar),
    syscw: Number(io.syscw),
    diskBytes: Number(io.write_bytes),
  };
}

function processorSeconds(pid) {
  return readdirSync(`/proc/${pid}/task`)
    .map((thread) => Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]) / 1e9)
    .reduce((sum, seconds) => sum + seconds, 0);
}

function difference(after, before) {
  return Object.fromEntries(Object.entries(after).map(([name, value]) => [name, value - before[name]]));
}

function rss(pid) {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * 1024;
}

function now() {
  return performance.timeOrigin + performance.now();
}

function quantile(sorted, share) {
  return sorted.length === 0 ? null : round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]);
}

function round(value) {
  return value >= 100 ? Math.round(value) : Math.round(value * 100) / 100;
}

if (process.argv[1] === import.meta.filename) {
  const numbers = [
    'warmUp',
    'endpoints',
    'publishers',
    'rate',
    'seconds',
    'hang',
    'fail',
    'slow',
    'workspaces',
    'patience',
  ];
  const { values } = parseArgs({
    options: {
      ...Object.fromEntries(numbers.map((name) => [name, { type: 'string' }])),
      node: { type: 'string', multiple: true },
      serve: { type: 'string', multiple: true },
      json: { type: 'boolean' },
      floor: { type: 'boolean' },
    },
  });
  const options = { ...values };
  for (const name of numbers) if (values[name] !== undefined) options[name] = Number(values[name]);
  const result = await deliveryLoad(options);
  console.log(values.json ? JSON.stringify(result) : result);
  process.exit(0);
}
