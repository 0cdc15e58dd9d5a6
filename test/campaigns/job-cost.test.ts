import { describe, expect, it } from 'vitest';
import { createHttpHandler, type HttpHandler, requestFrom } from '../../adapters/compat/index.js';
import { memoryStorage, recordingDelivery, sequentialIds } from '../../adapters/memory/index.js';
import { systemClock } from '../../adapters/node/index.js';
import { createEngine, hostPrincipal } from '../../src/index.js';
import { registerNode } from '../../src/operations/scheduling/register-node.js';
import { nodeFrom } from '../support/nodes.js';
import { threadTime } from './hcl-cost/measure.js';

/*
 * Looks for parts of a job whose work grows faster than their number. Each kind of part is repeated `count` times, and four times as
 * often, and as often as a document may hold them: planned with a diff, and registered, by requests. `SIGNALBOX_JOB_PARTS=2000` begins
 * with more. A document may be refused for its size, which must then be quick.
 */
const count = Number(process.env['SIGNALBOX_JOB_PARTS'] ?? 500);

/** About as many blocks as a document may have. */
const LARGEST = 9_900;
/** Milliseconds that one answer may take: a shared machine gets three times the aim. */
const BOUND = 1_000;
/** Milliseconds that say nothing of growth. */
const NEGLIGIBLE = 60;
/** Four times the parts may take this many times as long; a product of two lists takes sixteen times as long. */
const GROWTH = 9;

type Fields = Readonly<Record<string, unknown>>;
type Made = (times: number) => Fields;

const task = (fields: Fields = {}): Fields => ({
  Name: 't',
  Driver: 'raw_exec',
  Config: { command: '/bin/true' },
  ...fields,
});
const group = (fields: Fields = {}, ofTask: Fields = {}): Fields => ({
  Name: 'g',
  Tasks: [task(ofTask)],
  ...fields,
});
const job = (fields: Fields = {}, ofGroup: Fields = {}, ofTask: Fields = {}): Fields => ({
  ID: 'j',
  Name: 'j',
  Type: 'service',
  Datacenters: ['*'],
  TaskGroups: [group(ofGroup, ofTask)],
  ...fields,
});
const many = (times: number, make: (at: number) => unknown): unknown[] =>
  Array.from({ length: Math.max(1, Math.round(times)) }, (_, at) => make(at));
const map = (times: number, make: (at: number) => unknown): Fields =>
  Object.fromEntries(Array.from({ length: Math.round(times) }, (_, at) => [`k${at}`, make(at)]));
const rule = (at: number, Operand = '!=', RTarget = `v${at}`): Fields => ({ LTarget: '${attr.x}', RTarget, Operand });
const ports = (times: number): unknown => [{ DynamicPorts: many(times, (at) => ({ Label: `p${at}` })) }];
/** As many groups as a job may have, at most. */
const groups = (times: number, fields: Fields = {}): unknown =>
  many(times / 4, (at) => group({ Name: `g${at}`, ...fields }));
const spread = { Attribute: '${node.datacenter}', Weight: 1 };

const parts: Readonly<Record<string, Made>> = {
  groups: (n) => job({ TaskGroups: groups(n) }),
  'empty groups': (n) => job({ TaskGroups: many(n, () => ({})) }),
  'groups of one name': (n) => job({ TaskGroups: many(n / 4, () => group()) }),
  'groups with update blocks of their own': (n) =>
    job({ TaskGroups: groups(n, { Update: { MaxParallel: 1, Canary: 1 } }) }),
  tasks: (n) => job({}, { Tasks: many(n, (at) => task({ Name: `t${at}` })) }),
  'tasks of one name': (n) => job({}, { Tasks: many(n, () => task({ Leader: true })) }),
  constraints: (n) => job({ Constraints: many(n, (at) => rule(at)) }),
  'constraints without anything': (n) => job({ Constraints: many(n, () => ({})) }),
  'constraints for many groups': (n) => job({ Constraints: many(n / 10, (at) => rule(at)), TaskGroups: groups(n / 2) }),
  'patterns of Unicode classes': (n) =>
    job({ Constraints: many(n / 10, (at) => rule(at, 'regexp', `(?i)${'\\pL'.repeat(300)}${at}`)) }),
  'patterns of repetitions': (n) =>
    job({ Constraints: many(n / 10, (at) => rule(at, 'regexp', `(\\pL\\pN){600}${at}`)) }),
  'patterns with many brackets': (n) =>
    job({ Constraints: many(n / 10, (at) => rule(at, 'regexp', `${'['.repeat(990)}${at}`)) }),
  'patterns for a long text': (n) =>
    job({
      Constraints: many(n / 10, (at) => ({ ...rule(at, 'regexp', `(a|b)*c${at}$`), LTarget: 'ab'.repeat(2_000) })),
    }),
  'version constraints': (n) => job({ Constraints: many(n, (at) => rule(at, 'version', `>= 1.${at}`)) }),
  'version constraint of many blanks': (n) => job({ Constraints: [rule(0, 'version', `${' '.repeat(n)}a b`)] }),
  'distinct properties': (n) =>
    job({ Constraints: many(n, (at) => ({ LTarget: `\${attr.x${at}}`, Operand: 'distinct_property' })) }),
  affinities: (n) => job({ Affinities: many(n, (at) => ({ ...rule(at), Weight: 1 })) }),
  spreads: (n) => job({ Spreads: many(n, () => spread) }),
  'spreads for many groups': (n) => job({ Spreads: many(n / 10, () => spread), TaskGroups: groups(n / 2) }),
  'targets of a spread': (n) => job({ Spreads: [{ ...spread, SpreadTarget: many(n, (at) => ({ Value: `v${at}` })) }] }),
  datacenters: (n) => job({ Datacenters: many(n, (at) => `dc${at}`) }),
  'datacenters of many stars': (n) => job({ Datacenters: [`${'*a'.repeat(n)}`] }),
  meta: (n) => job({ Meta: map(n, () => 'v') }),
  'meta for many groups': (n) => job({ Meta: map(n / 4, () => 'v'), TaskGroups: groups(n / 2) }),
  env: (n) => job({}, {}, { Env: map(n, () => '${attr.x}') }),
  templates: (n) => job({}, {}, { Templates: many(n, (at) => ({ EmbeddedTmpl: 'x', DestPath: `local/${at}` })) }),
  'templates of one destination': (n) =>
    job({}, {}, { Templates: many(n, () => ({ EmbeddedTmpl: 'x', DestPath: 'local/x' })) }),
  'template of many actions': (n) =>
    job({}, {}, { Templates: [{ EmbeddedTmpl: '{{ env "A" }}'.repeat(n), DestPath: 'l' }] }),
  'template of many open blocks': (n) =>
    job({}, {}, { Templates: [{ EmbeddedTmpl: '{{ if 1 }}'.repeat(n), DestPath: 'l' }] }),
  services: (n) => job({}, { Services: many(n, (at) => ({ Name: `s${at}`, PortLabel: 'p0' })), Networks: ports(1) }),
  'services of one name': (n) =>
    job({}, { Services: many(n, () => ({ Name: 's', PortLabel: 'p0' })), Networks: ports(1) }),
  'services, each with a port': (n) =>
    job({}, { Services: many(n, (at) => ({ Name: `s${at}`, PortLabel: `p${at}` })), Networks: ports(n) }),
  'services, each of a task': (n) =>
    job(
      {},
      {
        Services: many(n / 2, (at) => ({ Name: `s${at}`, PortLabel: 'p0', TaskName: `t${at}` })),
        Networks: ports(1),
        Tasks: many(n / 2, (at) => task({ Name: `t${at}` })),
      },
    ),
  'services of a task': (n) =>
    job({}, { Networks: ports(1) }, { Services: many(n, (at) => ({ Name: `s${at}`, PortLabel: 'p0' })) }),
  checks: (n) =>
    job(
      {},
      {
        Networks: ports(1),
        Services: [
          {
            Name: 's',
            PortLabel: 'p0',
            Checks: many(n, (at) => ({ Name: `c${at}`, Type: 'tcp', Interval: 1e10, Timeout: 1e9 })),
          },
        ],
      },
    ),
  'tags of a service': (n) =>
    job({}, { Services: [{ Name: 's', PortLabel: 'p0', Tags: many(n, (at) => `t${at}`) }], Networks: ports(1) }),
  'dynamic ports': (n) => job({}, { Networks: ports(n) }),
  'static ports': (n) =>
    job({}, { Networks: [{ ReservedPorts: many(n, (at) => ({ Label: `p${at}`, Value: 1_000 + at })) }] }),
  networks: (n) => job({}, { Networks: many(n, (at) => ({ DynamicPorts: [{ Label: `p${at}` }] })) }),
  'networks of a task': (n) =>
    job({}, {}, { Resources: { Networks: many(n, (at) => ({ DynamicPorts: [{ Label: `p${at}` }] })) } }),
  devices: (n) => job({}, {}, { Resources: { Devices: many(n, (at) => ({ Name: `d${at}`, Count: 1 })) } }),
  volumes: (n) => job({}, { Volumes: map(n, (at) => ({ Name: `k${at}`, Type: 'host', Source: 's' })) }),
  'volumes and mounts': (n) =>
    job(
      {},
      { Volumes: map(n, (at) => ({ Name: `k${at}`, Type: 'host', Source: 's' })) },
      { VolumeMounts: many(n, (at) => ({ Volume: `k${at}`, Destination: `/d${at}` })) },
    ),
  artifacts: (n) => job({}, {}, { Artifacts: many(n, (at) => ({ GetterSource: `https://x/${at}` })) }),
  'options of an artifact': (n) =>
    job({}, {}, { Artifacts: [{ GetterSource: 'https://x/', GetterOptions: map(n * 10, () => 'v') }] }),
  actions: (n) => job({}, {}, { Actions: many(n, (at) => ({ Name: `a${at}`, Command: 'x' })) }),
  identities: (n) => job({}, {}, { Identities: many(n, (at) => ({ Name: `i${at}`, Audience: ['a'] })) }),
  arguments: (n) => job({}, {}, { Config: { command: '/bin/true', args: many(n, () => 'a') } }),
  'fields of a driver': (n) => job({}, {}, { Config: map(n, () => 1) }),
  'unknown fields': (n) => ({ ...job(), ...map(n, () => 1) }),
  'cron expressions': (n) =>
    job({ Type: 'batch', Periodic: { Specs: many(n, (at) => `${at % 60} 0 30 2 *`), TimeZone: 'America/New_York' } }),
  'meta keys of a template of runs': (n) =>
    job({
      Type: 'batch',
      ParameterizedJob: { MetaRequired: many(n, (at) => `k${at}`), MetaOptional: many(n, (at) => `k${at}`) },
    }),
};

/** Nothing moves in it: what requests cost is the work of their answers. */
async function installation(): Promise<HttpHandler> {
  const clock = systemClock();
  const storage = memoryStorage();
  const engine = createEngine({ storage, clock, ids: sequentialIds(), delivery: recordingDelivery({ clock }) });
  for (let at = 0; at < 3; at += 1) {
    const { Status, StatusDescription, StatusUpdatedAt, CreateIndex, ModifyIndex, ...node } = nodeFrom(
      `00000000-0000-4000-8000-00000000000${at}`,
    );
    await registerNode(engine, hostPrincipal, node);
  }
  return createHttpHandler(engine, { access: 'open' });
}

/** Milliseconds of processor time of the longest answer, and of all. */
interface Cost {
  readonly longest: number;
  readonly all: number;
}

async function costOf(make: Made, times: number): Promise<Cost> {
  const body = JSON.stringify({ Job: make(times), Diff: true });
  const handler = await installation();
  const costs: number[] = [];
  for (const target of ['/v1/job/j/plan', '/v1/jobs', '/v1/job/j/plan']) {
    const before = threadTime();
    await handler(requestFrom({ method: 'POST', target, headers: { 'content-type': 'application/json' }, body }));
    costs.push(threadTime() - before);
  }
  return { longest: Math.max(...costs), all: costs.reduce((sum, cost) => sum + cost, 0) };
}

async function look(
  make: Made,
): Promise<{ readonly growth: number; readonly longest: number; readonly fits: boolean }> {
  const few = await costOf(make, count);
  const more = await costOf(make, 4 * count);
  const most = await costOf(make, LARGEST);
  const growth = more.all / few.all;
  const longest = Math.max(few.longest, more.longest, most.longest);
  return { growth, longest, fits: (more.all < NEGLIGIBLE || growth < GROWTH) && longest < BOUND };
}

describe('parts of jobs that cost much', () => {
  it.each(Object.entries(parts))(
    '%s',
    async (name, make) => {
      for (let warming = 0; warming < 3; warming += 1) await costOf(make, 20);
      let found = await look(make);
      // A disturbance of the machine does not come three times.
      for (let again = 0; again < 2 && !found.fits; again += 1) found = await look(make);
      const { growth, longest } = found;
      if (count !== 500) console.log(`${name}: ${longest.toFixed(0)} ms, ${growth.toFixed(1)} times`);
      expect(found).toMatchObject({ fits: true });
    },
    120_000,
  );
});
