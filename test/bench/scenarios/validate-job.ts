import { admitJob } from '../../../src/jobs/admission/admit-job.js';
import { canonicaliseJob } from '../../../src/jobs/canonical/canonicalise-job.js';
import { decodeJob } from '../../../src/jobs/document/decode-job.js';
import { validateJob as validateMeaning } from '../../../src/jobs/validation/validate-job.js';

export interface ValidationCost {
  readonly name: 'validate.job';
  readonly documents: number;
  readonly bytesPerDocument: number;
  /** Microseconds per document, medians over the rounds. */
  readonly parse: number;
  readonly parseAndDecode: number;
  /** With defaults, implied constraints and all rules: everything that a registration does before it reads the store. */
  readonly parseAndPrepare: number;
  /** Median of the paired ratios of `parseAndDecode` to `parse`: the check of a document's shape. */
  readonly ratio: number;
  readonly prepareRatio: number;
  readonly limit: 2.0;
}

/**
 * What it costs to check submitted jobs, against `JSON.parse` alone: 256 distinct documents of about 3.6 KB, the loops
 * taking turns within each round so that a drift of the machine falls on all of them.
 */
export function validateJob(rounds = 60, documents = 256): ValidationCost {
  const texts = Array.from({ length: documents }, (_, index) => JSON.stringify(jobDocument(index)));
  const loops = {
    parse: () => run(texts, (text) => JSON.parse(text)),
    decode: () => run(texts, (text) => decodeJob(JSON.parse(text))._unsafeUnwrap()),
    prepare: () => run(texts, (text) => prepare(JSON.parse(text))),
  };
  for (let warm = 0; warm < 20; warm += 1) {
    loops.parse();
    loops.decode();
    loops.prepare();
  }
  const samples = Array.from({ length: rounds }, (_, round) =>
    round % 2 === 0
      ? { parse: loops.parse(), decode: loops.decode(), prepare: loops.prepare() }
      : reversed(loops.prepare, loops.decode, loops.parse),
  );
  return {
    name: 'validate.job',
    documents,
    bytesPerDocument: Math.round(texts.reduce((sum, text) => sum + text.length, 0) / documents),
    parse: median(samples.map(({ parse }) => parse)),
    parseAndDecode: median(samples.map(({ decode }) => decode)),
    parseAndPrepare: median(samples.map(({ prepare: all }) => all)),
    ratio: median(samples.map(({ parse, decode }) => decode / parse)),
    prepareRatio: median(samples.map(({ parse, prepare: all }) => all / parse)),
    limit: 2.0,
  };
}

function prepare(document: unknown): number {
  const job = admitJob(canonicaliseJob(decodeJob(document)._unsafeUnwrap()), { region: 'global' })._unsafeUnwrap();
  const { errors } = validateMeaning(job);
  if (errors.length > 0) throw new Error(`the bench job is not valid: ${errors.join('; ')}`);
  return job.TaskGroups.length;
}

function reversed(
  prepareLoop: () => number,
  decodeLoop: () => number,
  parseLoop: () => number,
): { parse: number; decode: number; prepare: number } {
  const all = prepareLoop();
  const decode = decodeLoop();
  return { parse: parseLoop(), decode, prepare: all };
}

/** What the last run gave; keeps the loops from being optimised away. */
let sink: unknown;

/** Microseconds per text. */
function run(texts: readonly string[], work: (text: string) => unknown): number {
  const start = process.hrtime.bigint();
  for (const text of texts) sink = work(text);
  const nanos = Number(process.hrtime.bigint() - start);
  if (sink === undefined) throw new Error('no work was done');
  return nanos / 1000 / texts.length;
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

/** A web application as a client would send it: a service group with a sidecar, and a worker group. */
export function jobDocument(index: number): object {
  const name = `shop-${index}`;
  return {
    ID: name,
    Name: name,
    Type: 'service',
    Priority: 40 + (index % 20),
    Datacenters: ['eu-1', 'eu-2'],
    Meta: { team: `team-${index % 7}`, revision: (index * 2654435761).toString(16), owner: 'payments' },
    Constraints: [{ LTarget: `\${attr.kernel.name}`, RTarget: 'linux', Operand: '=' }],
    Update: { MaxParallel: 2, Canary: 1, AutoRevert: true, MinHealthyTime: 15_000_000_000 },
    TaskGroups: [webGroup(index), workerGroup(index)],
  };
}

function webGroup(index: number): object {
  return {
    Name: 'web',
    Count: 1 + (index % 5),
    ShutdownDelay: 3_000_000_000,
    Networks: [
      {
        Mode: 'host',
        DynamicPorts: [
          { Label: 'http', To: 8080 },
          { Label: 'metrics', To: 9102 },
        ],
      },
    ],
    Services: [
      {
        Name: `shop-${index}-web`,
        PortLabel: 'http',
        Provider: 'nomad',
        Tags: ['http', `v${index}`, 'public'],
        CanaryTags: ['http', `v${index}-canary`],
        Meta: { dashboard: `https://grafana.internal/d/shop-${index}`, runbook: 'https://wiki.internal/shop' },
        Checks: [
          { Name: 'alive', Type: 'http', Path: '/healthz', Interval: 10_000_000_000, Timeout: 2_000_000_000 },
          { Name: 'ready', Type: 'tcp', Interval: 15_000_000_000, Timeout: 3_000_000_000 },
        ],
      },
    ],
    RestartPolicy: { Attempts: 3, Interval: 600_000_000_000, Delay: 20_000_000_000, Mode: 'delay' },
    Spreads: [{ Attribute: `\${node.datacenter}`, Weight: 60, SpreadTarget: [{ Value: 'eu-1', Percent: 70 }] }],
    Tasks: [
      {
        Name: 'server',
        Driver: 'exec',
        Config: { command: '/srv/shop/bin/server', args: ['--port', '8080', '--workers', String(2 + (index % 6))] },
        Env: {
          DATABASE_URL: `postgres://shop@db-${index % 9}.internal/shop`,
          LOG_LEVEL: 'info',
          REGION: 'eu',
          FEATURE_FLAGS: `checkout,search-${index},basket,recommendations,gift-cards`,
          CACHE_URL: `redis://cache-${index % 5}.internal:6379/0`,
          TRACING_ENDPOINT: 'https://collector.internal:4318/v1/traces',
          SESSION_COOKIE: 'shop_session',
          PUBLIC_ORIGIN: `https://shop-${index}.example.com`,
        },
        Resources: { CPU: 500 + index, MemoryMB: 512, MemoryMaxMB: 1024 },
        LogConfig: { MaxFiles: 5, MaxFileSizeMB: 20 },
        KillTimeout: 20_000_000_000,
        Artifacts: [{ GetterSource: `https://builds.internal/shop/${index}.tar.gz`, RelativeDest: 'local/app' }],
        Templates: [
          {
            EmbeddedTmpl: `port = {{ env "NOMAD_PORT_http" }}\nrelease = "${index}"\ncache = true\n`,
            DestPath: 'local/app.toml',
            ChangeMode: 'signal',
            ChangeSignal: 'SIGHUP',
          },
        ],
        Meta: {
          release: `2026.11.${index}`,
          repository: 'git@git.internal:shop/server.git',
          reviewer: 'payments-oncall',
        },
        Leader: true,
      },
      {
        Name: 'log-shipper',
        Driver: 'exec',
        Lifecycle: { Hook: 'poststart', Sidecar: true },
        Config: { command: '/usr/bin/shipper', args: ['-c', 'local/shipper.yaml'] },
        Resources: { CPU: 50, MemoryMB: 64 },
      },
    ],
  };
}

function workerGroup(index: number): object {
  return {
    Name: 'worker',
    Count: 2,
    EphemeralDisk: { SizeMB: 500, Sticky: true },
    Volumes: { queue: { Name: 'queue', Type: 'host', Source: `queue-${index % 4}` } },
    ReschedulePolicy: {
      Attempts: 5,
      Interval: 3_600_000_000_000,
      Delay: 30_000_000_000,
      DelayFunction: 'constant',
      Unlimited: false,
    },
    Affinities: [{ LTarget: `\${meta.disk}`, RTarget: 'ssd', Operand: '=', Weight: 75 }],
    Tasks: [
      {
        Name: 'worker',
        Driver: 'exec',
        User: 'nobody',
        Config: { command: '/srv/shop/bin/worker', args: ['--queue', `orders-${index}`], limits: { files: 4096 } },
        Env: {
          QUEUE: `orders-${index}`,
          CONCURRENCY: '8',
          LOG_LEVEL: 'warn',
          BATCH: '250',
          DEAD_LETTER: `orders-${index}-dead`,
          TIMEOUT: '30s',
          SENTRY: 'https://sentry.internal/7',
        },
        VolumeMounts: [{ Volume: 'queue', Destination: '/var/queue', ReadOnly: false }],
        Resources: { Cores: 2, MemoryMB: 2048 },
        Constraints: [{ LTarget: `\${attr.cpu.arch}`, RTarget: 'amd64', Operand: '=' }],
        Meta: { purpose: 'orders', shard: String(index % 16) },
        KillSignal: 'SIGINT',
        KillTimeout: 60_000_000_000,
        Actions: [{ Name: 'drain', Command: '/srv/shop/bin/worker', Args: ['drain', '--wait', '30s'] }],
        Identities: [
          { Name: 'queue', Audience: ['queue.internal'], TTL: 3_600_000_000_000, Env: true, ChangeMode: 'restart' },
        ],
      },
    ],
  };
}
