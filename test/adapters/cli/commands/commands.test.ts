import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCommand } from '../../../../adapters/cli/run-command.js';
import { startReceiver } from '../../../support/receiver.js';
import { endAll, signalbox } from '../cli-process.js';

/** Commands against a server with a runner: each is given as somebody types it, and its text is read. */

let origin = '';
let folder = '';
const files = new Map<string, string>();

beforeAll(async () => {
  const seed = { workspaces: [{ id: 'ws-1', name: 'net', organization: 'acme' }] };
  folder = await mkdtemp(join(tmpdir(), 'signalbox-commands-'));
  await writeFile(`${folder}/seed.json`, JSON.stringify(seed));
  const options = ['--listen', '127.0.0.1:0', '--access', 'open', '--seed', `${folder}/seed.json`];
  origin = await signalbox(['serve', ...options, '--allow-outbound', '127.0.0.0/8']).origin();
});
afterAll(async () => {
  endAll();
  await rm(folder, { recursive: true, force: true });
});

async function type(line: string, colours = false) {
  let out = '';
  let error = '';
  const code = await runCommand(line.split(' '), {
    out: (text) => {
      out += text;
    },
    error: (text) => {
      error += text;
    },
    read: async (path) => files.get(path) ?? '',
    colours,
    environment: { SIGNALBOX_ADDR: origin },
  });
  return { code, out, error };
}

function jobFile(id: string, more: { readonly memory?: number; readonly count?: number; readonly head?: string } = {}) {
  return `job "${id}" {
    ${more.head ?? 'type = "service"\nupdate { min_healthy_time = "50ms" }'}
    group "web" {
      count = ${more.count ?? 1}
      task "main" {
        driver = "raw_exec"
        config {
          command = "/bin/sleep"
          args = ["1000"]
        }
        resources {
          cpu = 20
          memory = ${more.memory ?? 16}
        }
      }
    }
  }`;
}

async function registered(id: string): Promise<void> {
  files.set('job.hcl', jobFile(id));
  expect((await type('job run job.hcl')).code).toBe(0);
}

describe('a job', () => {
  it('is run from a file or from standard input, and what was placed is told', async () => {
    files.set('-', jobFile('told'));
    const { code, out } = await type('job run -');
    expect(code).toBe(0);
    expect(out).toMatch(
      /^evaluation \w{8} \(.{36}\)\n {2}allocation \w{8} of group "web" on .+\nevaluation \w{8} is complete\n/,
    );
  });

  it('says why it was not placed', async () => {
    files.set('job.hcl', jobFile('greedy', { memory: 900_000_000 }));
    const { code, out } = await type('job run job.hcl');
    expect(code).toBe(2);
    expect(out).toMatch(
      /Group "web": 1 unplaced\n {2}\* resources exhausted on 1 node\n {2}\* dimension "memory": exhausted on 1 node/,
    );
    expect(out).toMatch(/evaluation \w{8} waits to place the rest/);
    expect((await type('job status greedy')).out).toMatch(/dimension "memory": exhausted/);
  });

  it('is shown, listed, scaled, evaluated, inspected, reverted and stopped', async () => {
    await registered('life');
    expect((await type('job status')).out).toMatch(
      /^ID {2,}Type {2,}Priority {2,}Status {2,}Submitted\n(.*\n)*life +service +50 /,
    );
    expect((await type('job status life')).out).toMatch(/^ID +=? ?life\n/);
    // A job is not scaled while it is deployed.
    await expect
      .poll(async () => (await type('job scale life web 2 -message more')).out, { interval: 500 })
      .toMatch(/is complete/);
    expect((await type('job eval -force-reschedule life')).out).toMatch(/is complete/);
    expect(JSON.parse((await type('job inspect life')).out)).toMatchObject({ Job: { ID: 'life' } });
    expect((await type('job history life')).out.match(/Version/g)).toHaveLength(2);
    expect((await type('job revert life 0')).out).toMatch(/is complete/);
    expect((await type('job stop -purge life')).code).toBe(0);
    const gone = await type('job status life');
    expect(gone).toMatchObject({ code: 1, error: 'signalbox: there is no job life\n' });
  });

  it('is found by the beginning of its ID, unless others begin so', async () => {
    for (const id of ['begun', 'begun-2', 'beginning']) {
      files.set('job.hcl', jobFile(id));
      expect((await type('job run -detach job.hcl')).code).toBe(0);
    }
    expect((await type('job status beginn')).out).toMatch(/^ID +=? ?beginning\n/);
    expect((await type('job status begun')).out).toMatch(/^ID +=? ?begun\n/);
    expect(await type('job status beg')).toMatchObject({
      code: 1,
      error: 'signalbox: beg is the prefix of more than one job:\n  beginning\n  begun\n  begun-2\n',
    });
  });

  it('is told to run later when nothing is to be placed yet', async () => {
    const timed = (hour: number) =>
      files.set('timed.hcl', jobFile('timed', { head: `type = "batch"\nperiodic { crons = ["0 ${hour} 1 1 *"] }` }));
    const later = 'it runs when dispatched or at its next scheduled time\n';
    timed(0);
    expect((await type('job run timed.hcl')).out).toBe(`job registered; ${later}`);
    timed(1);
    expect((await type('job run -detach timed.hcl')).out).toBe(`job registered; ${later}`);
    expect((await type('job revert timed 0')).out).toBe(`job reverted; ${later}`);
    await type('job stop -detach timed');
    expect((await type('job start timed')).out).toBe(`job started; ${later}`);
  });

  it('is dispatched with meta and a payload', async () => {
    files.set(
      'job.hcl',
      jobFile('called', {
        head: 'type = "batch"\nparameterized {\n meta_optional = ["who"]\n payload = "optional"\n}',
      }),
    );
    expect((await type('job run job.hcl')).out).toBe(
      'job registered; it runs when dispatched or at its next scheduled time\n',
    );
    files.set('payload', 'hello');
    expect((await type('job dispatch -meta who=me called payload')).out).toMatch(/^job called\/dispatch-/);
    const faulty = await type('job dispatch -meta who called');
    expect(faulty).toMatchObject({ code: 2, error: 'signalbox: --meta takes KEY=VALUE, not "who"\n' });
  });

  it('is registered only at the index that was asked for', async () => {
    files.set('job.hcl', jobFile('checked'));
    expect((await type('job run -detach -check-index 0 job.hcl')).out).toMatch(/^job registered, evaluation/);
    expect((await type('job run -check-index 0 job.hcl')).code).toBe(1);
  });
});

describe('what runs', () => {
  it('is found by the beginning of its ID', async () => {
    await registered('found');
    const allocations = JSON.parse((await type('alloc status -json')).out) as { ID: string; JobID: string }[];
    const id = allocations.find(({ JobID }) => JobID === 'found')?.ID ?? '';
    expect((await type(`alloc status ${id.slice(0, 8)}`)).out).toMatch(/Task "main" is \w+/);
    expect((await type('alloc status ffff')).error).toBe('signalbox: there is no allocation ffff\n');
    const evaluations = JSON.parse((await type('eval status -json -job found')).out) as { ID: string }[];
    expect((await type(`eval status ${evaluations[0]?.ID}`)).out).toMatch(/Trigger += job-register/);
    const nodes = JSON.parse((await type('node status -json')).out) as { ID: string }[];
    expect((await type(`node status ${nodes[0]?.ID}`)).out).toMatch(/Status += ready/);
  });
});

describe('namespaces and notifications', () => {
  it('keeps namespaces', async () => {
    expect((await type('namespace apply -description tools -meta a=b team')).code).toBe(0);
    expect((await type('namespace status team')).out).toMatch(/Description += tools/);
    expect((await type('namespace list')).out).toMatch(/team +tools/);
    expect((await type('namespace delete team')).code).toBe(0);
  });

  it('creates, verifies and lists configurations', async () => {
    const receiver = await startReceiver();
    const created = await type(`notification create -trigger run:errored ws-1 hook ${receiver.url}`);
    expect(created).toMatchObject({ code: 0, error: '' });
    const id = created.out.split(' ')[0];
    expect((await type(`notification verify ${id}`)).out).toBe(`${id} is verified\n`);
    expect((await type('notification list ws-1')).out).toMatch(/hook +generic +true +run:errored/);
    expect((await type(`notification disable ${id}`)).out).toBe(`${id} is disabled\n`);
    expect((await type(`notification show ${id}`)).out).toMatch(/Enabled += false/);
    expect((await type(`notification deliveries ${id}`)).code).toBe(0);
    expect((await type(`notification delete ${id}`)).code).toBe(0);
    await receiver.close();
  });
});

describe('a job from standard input', () => {
  it('may be what job inspect prints', async () => {
    files.set('-', jobFile('copied', { head: 'type = "batch"' }));
    expect((await type('job run -detach -')).code).toBe(0);
    files.set('-', (await type('job inspect copied')).out.replaceAll('copied', 'copy'));
    expect((await type('job validate -')).code).toBe(0);
    expect((await type('job run -detach -')).error).toBe('');
    expect((await type('job inspect copy')).out).toContain('"ID": "copy"');
    files.set('-', '{"job": {"of-language": {"group": {"web": {"task": {"main": {"driver": "raw_exec"}}}}}}}');
    expect((await type('job plan -')).error).toBe('');
    files.set('-', '{"job":');
    expect((await type('job plan -')).error).toMatch(/^signalbox: standard input is invalid/);
    for (const id of ['copied', 'copy']) expect((await type(`job stop -detach -purge ${id}`)).code).toBe(0);
  });
});

describe('workspaces, events and recoveries', () => {
  it('keeps workspaces and users', async () => {
    expect((await type('workspace put -name shop -organization org-2 ws-2')).out).toBe('workspace ws-2 is stored\n');
    expect((await type('workspace list org-2')).out).toMatch(/ws-2 +shop +remote/);
    expect((await type('workspace show ws-2')).out).toMatch(/Organization += org-2/);
    const more = 'workspace put -url https://shop.example -health-assessments true -execution-mode agent ws-2';
    expect((await type(more)).code).toBe(0);
    expect((await type('workspace put -name store ws-2')).code).toBe(0);
    expect(JSON.parse((await type('workspace show -json ws-2')).out)).toMatchObject({
      name: 'store',
      organization: 'org-2',
      url: 'https://shop.example',
      executionMode: 'agent',
      healthAssessments: true,
      driftDetection: false,
    });
    expect((await type('workspace show ws-2')).out).toMatch(
      /Execution mode += agent\nDrift detection += false\nHealth assessments += true\nURL += https:\/\/shop\.example\n/,
    );
    expect((await type('workspace put -url= -health-assessments=false ws-2')).code).toBe(0);
    expect((await type('workspace show ws-2')).out).toMatch(/Health assessments += false\n$/);
    expect((await type('workspace put -drift-detection yes ws-2')).error).toMatch(
      /--drift-detection takes true or false/,
    );
    expect((await type('workspace put -execution-mode never ws-2')).error).toMatch(
      /--execution-mode takes remote, agent or local, not "never"/,
    );
    expect((await type('user put -organization org-2 u-1 dana@example.org')).out).toBe('user u-1 is stored\n');
    expect((await type('user put u-2 nobody')).error).toMatch(/email/);
    expect((await type('user delete u-1')).code).toBe(0);
    expect((await type('workspace delete ws-2')).out).toBe('workspace ws-2 is removed\n');
    expect((await type('workspace show ws-2')).code).toBe(1);
  });

  it('declares a configuration, explains, sends, shows and erases events', async () => {
    const receiver = await startReceiver();
    files.set('delivery.json', '{"filter": "run_id == \\"run-7\\""}');
    const put = `notification put -trigger run:errored -delivery-file delivery.json ws-1 declared ${receiver.url}`;
    const stored = await type(put);
    expect(stored.error).toBe('');
    expect((await type(put)).out).toBe(stored.out);
    const id = stored.out.split(' ')[0];
    expect((await type('event explain -set run_id=r ws-1 run:completed')).out).toMatch(/declared +no +trigger_off/);
    expect((await type('event send -set run_id=r ws-1 run:completed')).out).toMatch(
      /^event \S+ has no recipients\n.*trigger_off/s,
    );
    expect((await type('event send -set run_id=run-8 ws-1 run:errored')).out).toMatch(/declared +no +filtered/);
    const sent = await type('event send -set run_id=run-7 ws-1 run:errored');
    expect(sent.out).toMatch(/^event \S+: 1 delivery\n$/);
    const event = /^event (\S+):/.exec(sent.out)?.[1];
    await expect
      .poll(async () => (await type('event list -trigger run:errored -outcome delivered ws-1')).out)
      .toContain(event);
    expect((await type(`event show ${event}`)).out).toMatch(/Trigger += run:errored.*\n\S+ +1 +2\d\d *\n/s);
    expect((await type(`event erase ${event}`)).out).toBe(`${event} is erased\n`);
    for (const time of ['yesterday', '5', '2026-01-02', '2026-01-02T03:04:05'])
      expect((await type(`event list -since ${time} ws-1`)).error).toMatch(/^signalbox: --since takes a time such as/);
    expect((await type('event list -since 2020-01-01T00:00:00Z ws-1')).out).toContain(event);
    expect((await type('event list -until 2020-01-01T01:00:00+01:00 ws-1')).out).toBe('no events\n');
    expect((await type('notification list ws-1')).out).toMatch(/declared +generic +true +run:errored\n/);
    expect((await type(`notification show ${id}`)).out).toMatch(
      /Filter += run_id == "run-7"\nLast verification += 204 .*\nPaused += false\nBreaker/,
    );
    expect((await type(`notification pause ${id}`)).out).toBe(`${id} is paused\n`);
    expect((await type(`notification show ${id}`)).out).toMatch(/Paused += true\n/);
    expect((await type('notification list ws-1')).out).toMatch(/run:errored +paused\n/);
    expect((await type(`notification deliveries -page 2 ${id}`)).out).toBe('no deliveries\n');
    expect((await type(`notification deliveries -page 0 ${id}`)).error).toMatch(/page/);
    expect((await type('event list -page 2 ws-1')).out).toMatch(/^no events/);
    expect((await type(`notification resume ${id}`)).out).toBe(`${id} is resumed\n`);
    expect((await type('recovery count ws-1 2026-01-01T00:00:00Z')).out).toBe('0\n');
    expect((await type('recovery count -status none ws-1 2026-01-01T00:00:00Z')).out).toBe('0\n');
    expect((await type('recovery count -status 6xx ws-1 2026-01-01T00:00:00Z')).error).toMatch(/The status must be/);
    const started = await type('recovery start -outcome cancelled -status 5xx ws-1 2026-01-01T00:00:00Z');
    expect(started.out).toMatch(/^recovery \S+ sends 0 deliveries again\n$/);
    expect((await type('recovery list ws-1')).out).toMatch(/\S+ +\w+ +0 of 0 .* 5xx\n$/);
    expect((await type(`notification delete ${id}`)).code).toBe(0);
    await receiver.close();
  });

  it('refuses what a configuration of its type does not have', async () => {
    expect(await type('notification put -type email ws-1 mails http://127.0.0.1:1/')).toMatchObject({
      code: 2,
      error: expect.stringMatching(/e-mail goes to --user USER, not to a URL/),
    });
    expect(await type('notification put -user u-1 ws-1 hook http://127.0.0.1:1/')).toMatchObject({
      code: 2,
      error: expect.stringMatching(/--user is for --type email/),
    });
    expect((await type('notification put -type email -disabled ws-1 mails')).out).toMatch(
      /^\S+ is stored; no recipients: name users with --user\n$/,
    );
  });

  it('keeps event types', async () => {
    files.set(
      'type.json',
      '{"description": "An order", "schema": {"type": "object", "required": ["id"], "properties": {"id": {"type": "string"}}}}',
    );
    expect((await type('event-type put order.placed type.json')).out).toBe('event type order.placed is stored\n');
    expect((await type('event-type list')).out).toMatch(/order\.placed +An order/);
    expect(JSON.parse((await type('event-type show order.placed')).out)).toMatchObject({ schema: { type: 'object' } });
    expect((await type('event send ws-1 order.placed')).error).toMatch(/id/);
    files.set('payload.json', '{"id": "o-1", "message": "not an attribute"}');
    expect((await type('event send -file payload.json ws-1 order.placed')).out).toMatch(/^event \S+ has no recipients/);
    files.set('event.json', '{"data": {"id": "o-1"}, "order_key": "o-1"}');
    expect((await type('event send -file event.json ws-1 order.placed')).out).toMatch(/^event \S+ has no recipients/);
    expect((await type('event-type delete order.placed')).code).toBe(0);
    files.set('broken.json', '{"a": }');
    expect((await type('event-type put x broken.json')).error).toMatch(/broken\.json:1:7: expected a value/);
  });
});

describe('the command line itself', () => {
  it.each(['-version', '--version', 'version'])('%s tells the version of the package', async (word) => {
    const { version } = JSON.parse(await readFile(new URL('../../../../package.json', import.meta.url), 'utf8'));
    expect((await type(word)).out).toBe(`signalbox ${version}\n`);
  });

  it('names the option that was meant, and shows one command only', async () => {
    const { code, error } = await type('job run -detatch job.hcl');
    expect(code).toBe(2);
    expect(error).toMatch(
      /^signalbox: unknown option --detatch; did you mean --detach\?\nusage: signalbox job run FILE; signalbox job run --help lists the options\n$/,
    );
  });

  it('has help for everything, for a topic and for a command', async () => {
    expect((await type('-help')).out).toMatch(/job +plan, status, validate, run/);
    expect((await type('help job')).out).toMatch(/signalbox job run FILE/);
    for (const asked of ['job --help', 'job -h', 'node meta --help']) {
      const shown = await type(asked);
      expect(shown).toMatchObject({ code: 0, out: (await type(`help ${asked.split(' ')[0]}`)).out });
    }
    expect((await type('job nothing --help')).code).toBe(2);
    expect((await type('job run -h')).out).toMatch(/--check-index N/);
  });
});

describe('plans, deployments, nodes and logs', () => {
  it('plans what is new, what is the same and what changes, and tells the index to apply it with', async () => {
    files.set('job.hcl', jobFile('planned'));
    const added = await type('job plan job.hcl');
    expect(added.code).toBe(1);
    expect(added.out).toMatch(/^\+ +Job: "planned"\n/);
    expect(added.out).toMatch(/group "web": 1 place\n/);
    expect(added.out).toMatch(/signalbox job run -check-index 0 job\.hcl\n$/);
    expect((await type('job run job.hcl')).code).toBe(0);
    expect(await type('job plan job.hcl')).toMatchObject({
      code: 0,
      out: expect.stringContaining('no changes\n'),
    });
    files.set('job.hcl', jobFile('planned', { memory: 17 }));
    const changed = await type('job plan job.hcl', true);
    expect(changed.code).toBe(1);
    expect(changed.out).toContain('\u001b[33m+/- \u001b[0mMemoryMB: "16" => "17"');
    files.set('job.hcl', 'job "x" {');
    expect((await type('job plan job.hcl')).code).toBe(255);
  });

  it('tells versions with what differs', async () => {
    files.set('job.hcl', jobFile('grown'));
    await type('job run job.hcl');
    files.set('job.hcl', jobFile('grown', { memory: 17 }));
    await type('job run job.hcl');
    expect((await type('job history -p grown')).out).toMatch(/MemoryMB: "16" => "17"/);
  });

  it('shows and steers deployments', async () => {
    files.set('job.hcl', jobFile('rolled', { head: 'type = "service"\nupdate { health_check = "manual" }' }));
    expect((await type('job run -detach job.hcl')).error).toBe('');
    const rolled = async () => JSON.parse((await type('deployment status -json')).out) as { JobID: string }[];
    await expect.poll(rolled).toContainEqual(expect.objectContaining({ JobID: 'rolled' }));
    const listed = JSON.parse((await type('deployment status -json')).out) as { ID: string; JobID: string }[];
    const id = listed.find(({ JobID }) => JobID === 'rolled')?.ID ?? '';
    expect(await type(`deployment status ${id}`)).toMatchObject({
      error: '',
      out: expect.stringMatching(/Status += running/),
    });
    expect((await type(`deployment pause ${id}`)).code).toBe(0);
    expect((await type(`deployment status ${id}`)).out).toMatch(/Status += paused/);
    expect((await type(`deployment unblock ${id}`)).code).toBe(0);
    expect((await type(`deployment resume ${id}`)).code).toBe(0);
    expect((await type(`deployment status ${id}`)).out).toMatch(/Status += running/);
    expect((await type(`deployment fail ${id}`)).code).toBe(0);
    expect((await type(`deployment status ${id}`)).out).toMatch(/Status += failed/);
  });

  it('steers a node', async () => {
    const nodes = JSON.parse((await type('node status -json')).out) as { ID: string }[];
    const id = nodes[0]?.ID ?? '';
    expect((await type(`node eligibility -disable ${id}`)).out).toMatch(/is ineligible/);
    expect((await type(`node eligibility -enable ${id}`)).out).toMatch(/is eligible/);
    expect((await type(`node drain -deadline soon -enable ${id}`)).code).toBe(2);
  });

  it('reads what a task has written, and restarts it', async () => {
    const source = jobFile('spoken')
      .replace('"/bin/sleep"', '"/bin/sh"')
      .replace('["1000"]', '["-c", "echo hello; sleep 1000"]');
    files.set('job.hcl', source);
    await type('job run job.hcl');
    const allocations = JSON.parse((await type('alloc status -json')).out) as { ID: string; JobID: string }[];
    const id = allocations.find(({ JobID }) => JobID === 'spoken')?.ID ?? '';
    await expect.poll(async () => (await type(`alloc logs ${id} main`)).out).toBe('hello\n');
    expect((await type(`alloc restart ${id} main`)).out).toMatch(/restarts/);
    const signalled = async () => (await type(`alloc signal ${id} SIGCONT main`)).out;
    await expect.poll(signalled).toMatch(/SIGCONT was sent to allocation/);
  });
});

describe('with -json, a command prints its answer and nothing else', () => {
  it.each([
    ['job validate job.hcl', { error: '', errors: [] }],
    ['job run periodic.hcl', { evalId: '' }],
    ['job stop -detach periodic', {}],
    ['job start periodic', { evalId: '' }],
    ['namespace apply team', null],
    ['namespace delete team', null],
    ['workspace put ws-json', { id: 'ws-json' }],
    ['workspace delete ws-json', null],
    ['user put ada ada@example.net', { id: 'ada' }],
    ['user delete ada', null],
  ])('%s', async (line, answer) => {
    files.set('job.hcl', jobFile('printed'));
    const head = 'type = "batch"\nperiodic { crons = ["0 0 1 1 *"] }';
    files.set('periodic.hcl', jobFile('periodic', { head }));
    const { code, out, error } = await type(`${line} -json`);
    expect({ code, error }).toEqual({ code: 0, error: '' });
    const printed: unknown = JSON.parse(out);
    if (answer !== null && Object.keys(answer).length > 0) expect(printed).toMatchObject(answer);
  });

  it('and refuses a job with its problems as the answer', async () => {
    files.set('job.hcl', jobFile('printed').replace('count = 1', 'count = -1'));
    const { code, out } = await type('job validate -json job.hcl');
    expect(code).toBe(1);
    expect(JSON.parse(out)).toMatchObject({ error: expect.stringMatching(/count/i) });
  });
});
