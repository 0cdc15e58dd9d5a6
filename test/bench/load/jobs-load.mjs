/*
 * Load on a whole server over the job interface: rates, and the processor time that each call cost the server with all that
 * follows it. For every server that speaks the interface, so that two of them can be compared on one machine.
 *
 *   node test/bench/load/jobs-load.mjs [--address URL --pid PID] [--jobs N] [--connections N] [--calls N] [--only TEXT] [--json]
 *
 * Without --address it starts `signalbox serve` over SQLite with full durability and with upstream names (`npm run build`
 * first). --jobs is the number of jobs in the store (10,000), --calls what a row asks at most (2,000) within three seconds. The
 * server should have no nodes: then nothing is placed. With --server-core and --client-core (`taskset`) both stay on their core.
 */
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const root = join(import.meta.dirname, '../../..');

const { values } = parseArgs({
  options: {
    address: { type: 'string' },
    pid: { type: 'string' },
    jobs: { type: 'string', default: '10000' },
    connections: { type: 'string', default: '16' },
    calls: { type: 'string', default: '2000' },
    only: { type: 'string', default: '' },
    'server-core': { type: 'string' },
    'client-core': { type: 'string' },
    json: { type: 'boolean', default: false },
  },
});
const number = (name) => Number(values[name]);

const server = values.address === undefined ? await startOwn() : { url: values.address, pid: Number(values.pid) };
if (values['client-core'] !== undefined) pin(process.pid, values['client-core']);
if (values['server-core'] !== undefined) pin(server.pid, values['server-core']);
const agent = new Agent({ keepAlive: true, maxSockets: 2000 });

try {
  await run();
} finally {
  agent.destroy();
  server.stop?.();
}

async function run() {
  const empty = memory();
  await rows('register new job', (n) => register(job(`new-${n}`)));
  await rows('register new job, one connection', (n) => register(job(`single-${n}`)), { connections: 1, calls: 500 });
  await inParallel(number('jobs'), 16, (n) => register(job(stored(n))));
  const filled = memory();
  await quiet();
  await rows('list 100 of the jobs', () => get('/v1/jobs?per_page=100'));
  await rows('list 100 with a prefix', () => get('/v1/jobs?prefix=stored-00&per_page=100'));
  await rows('read job', (n) => get(`/v1/job/${stored(n)}`));
  await rows('register unchanged job', (n) => register(job(stored(n % 500))));
  await rows('update existing job', (n) => register(job(stored(n % 500), `v${n}`)));
  await rows('versions of an updated job', (n) => get(`/v1/job/${stored(n % 500)}/versions`));
  await rows('plan with diff', (n) => {
    const planned = job(stored(500 + (n % 500)), `p${n}`);
    return put(`/v1/job/${planned.ID}/plan`, { Job: planned, Diff: true });
  });
  // Those of a service cannot be scaled while its deployment waits for instances.
  await inParallel(500, 16, (n) => register(batch(`scaled-${n}`)));
  await rows('scale', (n) => put(`/v1/job/scaled-${n % 500}/scale`, { Count: 2 + (n % 5), Target: { Group: 'web' } }));
  await register({ ...batch('work'), ParameterizedJob: { Payload: 'optional' } });
  const payload = Buffer.alloc(1024, 'x').toString('base64');
  await rows('dispatch, token and 1 KB payload', (n) =>
    put(`/v1/job/work/dispatch?idempotency_token=${process.pid}-${n}`, { Payload: payload }),
  );
  const text = jobText();
  await rows('parse a job file of 170 lines', () => put('/v1/jobs/parse', { JobHCL: text, Canonicalize: true }));
  const huge = job('huge');
  huge.TaskGroups[0].Count = 1000;
  huge.TaskGroups[0].Update = null;
  await register(huge);
  await rows('evaluate, 1,000 instances that fit nowhere', () => put('/v1/job/huge/evaluate', { JobID: 'huge' }), {
    calls: 500,
  });
  for (const readers of [100, 1000]) await waking(readers);
  const now = memory();
  tell({ row: 'memory, MiB: empty, after registrations, at the end', values: [empty, filled, now] });
}

/** One kind of call: as many as fit in three seconds, the rate, and the processor time of the server until it is quiet again. */
async function rows(row, call, { connections = number('connections'), calls = number('calls') } = {}) {
  if (!row.includes(values.only)) return;
  await inParallel(Math.min(200, calls), connections, (n) => call(n + 1_000_000));
  await quiet();
  const before = processor();
  const began = performance.now();
  const done = await inParallel(calls, connections, call, began + 3000);
  const seconds = (performance.now() - began) / 1000;
  await quiet();
  tell({
    row,
    perSecond: Math.round(done / seconds),
    cpuMicroseconds: Math.round((1e6 * (processor() - before)) / done),
  });
}

/** Readers that wait for one job, which changes. */
async function waking(readers) {
  const row = `wake ${readers} parked readers`;
  if (!row.includes(values.only)) return;
  const path = `/v1/job/${stored(2000)}`;
  let woken = 0;
  let seconds = 0;
  let cpu = 0;
  for (let round = 0; round < 10; round += 1) {
    const { index } = await get(path);
    const parked = Array.from({ length: readers }, () => get(`${path}?index=${index}&wait=60s`));
    await quiet();
    const before = processor();
    const began = performance.now();
    await register(job(stored(2000), `w${process.pid}-${readers}-${round}`));
    await Promise.all(parked);
    seconds += (performance.now() - began) / 1000;
    woken += readers;
    await quiet();
    cpu += processor() - before;
  }
  tell({ row, perSecond: Math.round(woken / seconds), cpuMicroseconds: Math.round((1e6 * cpu) / woken) });
}

function tell(result) {
  if (values.json) console.log(JSON.stringify(result));
  else if (result.values !== undefined) console.log(`${result.row}: ${result.values.join(', ')}`);
  else
    console.log(
      `${result.row.padEnd(46)} ${String(result.perSecond).padStart(8)}/s ${String(result.cpuMicroseconds).padStart(8)} µs`,
    );
}

/** Calls with 0, 1, 2 … over so many connections until the number or the time is reached; gives how many were made. */
async function inParallel(count, connections, call, until = Number.POSITIVE_INFINITY) {
  let next = 0;
  const worker = async () => {
    while (next < count && performance.now() < until) await call(next++);
  };
  await Promise.all(Array.from({ length: connections }, worker));
  return next;
}

/** Waits until the server takes hardly any processor time, at most ten seconds. */
async function quiet() {
  for (let tries = 0; tries < 40; tries += 1) {
    const before = processor();
    await new Promise((resolve) => setTimeout(resolve, 250));
    if (processor() - before <= 0.02) return;
  }
}

/** Seconds of processor time that the server has taken. */
function processor() {
  const fields = readFileSync(`/proc/${server.pid}/stat`, 'utf8').split(') ')[1].split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

function memory() {
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))[1]) / 1024);
}

function pin(pid, core) {
  execFileSync('taskset', ['-a', '-c', '-p', core, String(pid)], { stdio: 'ignore' });
}

/** One of the jobs in the store. */
function stored(n) {
  return `stored-${String(n % number('jobs')).padStart(5, '0')}`;
}

function register(document) {
  return put('/v1/jobs', { Job: document });
}

function get(path) {
  return send('GET', path);
}

function put(path, document) {
  return send('PUT', path, JSON.stringify(document));
}

function send(method, path, body) {
  return new Promise((resolve, reject) => {
    const headers =
      body === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    const sent = request(`${server.url}${path}`, { method, agent, headers }, (response) => {
      const failed = response.statusCode >= 300;
      let text = '';
      response.on('data', (part) => {
        if (failed) text += part;
      });
      response.on('end', () => {
        if (failed) reject(new Error(`${method} ${path}: ${response.statusCode} ${text.slice(0, 300)}`));
        else resolve({ index: response.headers['x-nomad-index'] });
      });
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

async function startOwn() {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-load-'));
  const options = ['--listen', '127.0.0.1:0', '--store', `sqlite:${join(folder, 'store.db')}`];
  const child = spawn(
    process.execPath,
    [join(root, 'dist/cli.js'), 'serve', ...options, '--access', 'open', '--names', 'upstream', '--no-runner'],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const url = await new Promise((resolve, reject) => {
    child.stdout.on('data', (text) => {
      const match = /listening on (http:\S+)/.exec(String(text));
      if (match !== null) resolve(match[1]);
    });
    child.on('exit', (code) => reject(new Error(`the server ended with ${code}`)));
  });
  const stop = () => {
    child.removeAllListeners('exit');
    child.on('exit', () => rmSync(folder, { recursive: true, force: true }));
    child.kill('SIGTERM');
  };
  return { url, pid: child.pid, stop };
}

/** A service of 2.6 KB: two groups, checks, templates, constraints. `mark` makes another version of it. */
function job(ID, mark = '') {
  const task = (name) => ({
    Name: name,
    Driver: 'raw_exec',
    Config: { command: '/usr/bin/env', args: ['node', `${name}.js`, '--port', '8080', '--verbose'] },
    Env: {
      MODE: 'production',
      REGION: 'north',
      MARK: mark,
      LOG_LEVEL: 'info',
      DATABASE_URL: 'postgres://db.internal:5432/app',
    },
    Meta: { owner: 'platform', tier: 'one' },
    Resources: { CPU: 200, MemoryMB: 256 },
    Templates: [
      { EmbeddedTmpl: '{{ env "NOMAD_TASK_NAME" }}\n'.repeat(8), DestPath: 'local/config.txt', ChangeMode: 'restart' },
    ],
    Services: [
      {
        Name: `${ID}-${name}`,
        Provider: 'nomad',
        PortLabel: 'http',
        Tags: ['v1', 'http', 'internal'],
        Checks: [{ Name: 'alive', Type: 'http', Path: '/health', Interval: 10_000_000_000, Timeout: 2_000_000_000 }],
      },
    ],
    RestartPolicy: { Attempts: 3, Interval: 600_000_000_000, Delay: 15_000_000_000, Mode: 'fail' },
    LogConfig: { MaxFiles: 5, MaxFileSizeMB: 10 },
  });
  return {
    ID,
    Name: ID,
    Type: 'service',
    Datacenters: ['dc1'],
    Meta: { team: 'shop', purpose: 'load', mark },
    Constraints: [{ LTarget: '${attr.kernel.name}', RTarget: 'linux', Operand: '=' }],
    TaskGroups: ['web', 'api'].map((name) => ({
      Name: name,
      Count: 1,
      Networks: [{ DynamicPorts: [{ Label: 'http' }] }],
      Tasks: [task(`${name}-server`)],
      Update: { MaxParallel: 1, MinHealthyTime: 10_000_000_000, HealthyDeadline: 300_000_000_000 },
    })),
  };
}

/** The same as a batch job. */
function batch(ID) {
  const document = job(ID);
  const groups = document.TaskGroups.map(({ Update: _, ...group }) => group);
  return { ...document, Type: 'batch', TaskGroups: groups };
}

function jobText() {
  const group = (name) => `
  group "${name}" {
    count = 2
    network {
      port "http" {}
      port "admin" {
        to = 9000
      }
    }
    update {
      max_parallel = 1
      canary       = 1
      auto_revert  = true
    }
${['one', 'two'].map((task) => taskText(`${name}-${task}`)).join('')}
  }
`;
  return `variable "image" {
  type    = string
  default = "web:1.2.3"
}
job "parsed" {
  datacenters = ["dc1", "dc2"]
  meta {
    owner = "platform"
  }
${['web', 'api'].map(group).join('')}
}
`;
}

function taskText(name) {
  return `
    task "${name}" {
      driver = "raw_exec"
      config {
        command = "/usr/bin/env"
        args    = ["node", "server.js", "--image", var.image]
      }
      env {
        MODE = "production"
        PORT = "\${NOMAD_PORT_http}"
      }
      template {
        data        = <<EOT
listen \${upper("http")}
EOT
        destination = "local/config"
      }
      service {
        name     = "${name}"
        provider = "nomad"
        port     = "http"
        check {
          type     = "http"
          path     = "/health"
          interval = "10s"
          timeout  = "2s"
        }
      }
      resources {
        cpu    = 200
        memory = 256
      }
    }`;
}
