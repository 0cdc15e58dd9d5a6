import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type AgentFlags, agentOptionsFrom } from '../../../../adapters/cli/agent/agent-options.js';
import { connect } from '../../../../src/client/index.js';
import { type Installation, installation } from '../../../support/installation.js';
import { endAll } from '../cli-process.js';

const none: AgentFlags = {
  server: undefined,
  'token-file': undefined,
  driver: [],
  directory: undefined,
  'node-id': undefined,
  name: undefined,
  pool: undefined,
  datacenter: undefined,
  class: undefined,
  meta: [],
  cpu: undefined,
  memory: undefined,
  disk: undefined,
  reserved: [],
  volume: [],
  'allow-outbound': [],
  'on-stop': undefined,
};

const alone = { environment: {}, file: null };

describe('the options of an agent', () => {
  it('describe the node', () => {
    const options = agentOptionsFrom(
      {
        ...none,
        server: 'https://jobs.example.org/tools',
        name: 'far',
        pool: 'gpu',
        datacenter: 'dc2',
        class: 'large',
        meta: ['rack=r1', 'note=a=b'],
        cpu: '4000',
        memory: '8000',
        reserved: ['cpu=500', 'disk=100'],
        volume: ['media=/srv/media:ro', 'data[0]=/srv/a=b'],
        'allow-outbound': ['10.0.0.0/8'],
        directory: '/var/lib/agent',
        'on-stop': 'kill',
      },
      alone,
    );
    expect(options).toMatchObject({
      url: 'https://jobs.example.org/tools',
      tokenFile: null,
      directory: '/var/lib/agent',
      onStop: 'kill',
      node: {
        name: 'far',
        nodePool: 'gpu',
        datacenter: 'dc2',
        nodeClass: 'large',
        meta: { rack: 'r1', note: 'a=b' },
        cpu: 4000,
        memory: 8000,
        volumes: { media: { path: '/srv/media', readOnly: true }, 'data[0]': { path: '/srv/a=b' } },
        reserved: { cpu: 500, memory: 0, disk: 100 },
      },
    });
  });

  it('have the server of the environment, and this host', () => {
    expect(agentOptionsFrom(none, { ...alone, environment: { SIGNALBOX_ADDR: 'http://10.0.0.1:4646' } }).url).toBe(
      'http://10.0.0.1:4646',
    );
    expect(agentOptionsFrom(none, alone).url).toBe('http://127.0.0.1:4646');
  });

  it('stand in the file and the environment, too, and the nearest wins', () => {
    const file = {
      path: '/etc/signalbox.json',
      content: { node: { name: 'file', class: 'large', meta: ['a=b'], reserved: { memory: 7 } }, httpsOnly: true },
    };
    const environment = { SIGNALBOX_NODE_NAME: 'variable', SIGNALBOX_NODE_CLASS: 'small' };
    const { node, outbound } = agentOptionsFrom({ ...none, name: 'option' }, { environment, file });
    expect(node).toMatchObject({ name: 'option', nodeClass: 'small', meta: { a: 'b' }, reserved: { memory: 7 } });
    expect(outbound.httpsOnly).toBe(true);
    const wrong = { ...file, content: { node: { reserved: { gpu: 1 } } } };
    expect(() => agentOptionsFrom(none, { environment, file: wrong })).toThrow('unknown setting "gpu"');
  });

  it.each<[Partial<AgentFlags>, string]>([
    [{ server: 'jobs.example.org' }, '--server takes a URL'],
    [{ server: 'ftp://x' }, '--server takes a URL'],
    [{ server: 'ftp://user:sesame@x' }, 'not "ftp://x"'],
    [{ driver: ['docker'] }, 'unknown driver "docker"'],
    [{ 'node-id': 'web-1' }, '--node-id takes a UUID'],
    [{ meta: ['rack'] }, '--meta takes KEY=VALUE'],
    [{ cpu: '-1' }, '--cpu takes a whole number'],
    [{ memory: '1e9' }, '--memory takes a whole number'],
    [{ reserved: ['gpu=1'] }, '--reserved takes cpu=MHZ'],
    [{ reserved: ['cpu=x'] }, '--reserved takes a whole number'],
    [{ volume: ['media'] }, '--volume takes NAME=PATH'],
    [{ volume: ['media=srv'] }, '--volume takes NAME=PATH'],
    [{ volume: ['__proto__=/srv'] }, '--volume takes NAME=PATH'],
    [{ 'on-stop': 'burn' }, '--on-stop takes leave or kill'],
  ])('are refused: %j', (flags, message) => {
    expect(() => agentOptionsFrom({ ...none, ...flags }, alone)).toThrow(message);
  });
});

describe('signalbox agent', () => {
  let installed: Installation;
  beforeAll(async () => {
    installed = await installation();
  });
  afterEach(endAll);
  afterAll(() => installed.remove());

  it('runs jobs for a server elsewhere with a token of its own, and ends with a signal', async () => {
    const server = installed.run(['serve', '--listen', '127.0.0.1:0', '--no-runner']);
    const url = await server.origin();
    const printed = await server.printed(/management token, shown this once: (\S+)/);
    const box = connect({ url, token: printed });
    const made = installed.run(['token', 'create', '-type', 'node', '-json', 'far'], {
      SIGNALBOX_ADDR: url,
      SIGNALBOX_TOKEN: printed,
    });
    expect((await made.ended).code).toBe(0);
    const file = join(installed.folder, 'token');
    await writeFile(file, (JSON.parse(made.out()) as { SecretID: string }).SecretID);
    const where = [
      '--server',
      url,
      '--token-file',
      file,
      '--directory',
      join(installed.folder, 'work'),
      '--on-stop',
      'kill',
    ];
    const agent = installed.run(['agent', ...where, '--name', 'far', '--reserved', 'memory=10', '--meta', 'rack=r1']);
    const nodeId = await agent.printed(/node (\S+) is registered with/);
    const node = (await box.nodes.read(nodeId))._unsafeUnwrap().value;
    expect(node).toMatchObject({
      Name: 'far',
      Meta: { rack: 'r1' },
      Status: 'ready',
      ReservedResources: { Memory: { MemoryMB: 10 } },
    });
    const task = { Name: 't', Driver: 'raw_exec', Config: { command: '/bin/echo', args: ['hello'] } };
    const job = { ID: 'work', Type: 'batch', Datacenters: ['*'], TaskGroups: [{ Name: 'g', Tasks: [task] }] } as const;
    (await box.jobs.register(job))._unsafeUnwrap();
    let allocations = (await box.jobs.allocations('work'))._unsafeUnwrap();
    while (allocations.value[0]?.ClientStatus !== 'complete') {
      allocations = (await box.jobs.allocations('work', { index: allocations.index }))._unsafeUnwrap();
    }
    const id = allocations.value[0].ID;
    let logs = '';
    for await (const frame of box.files.logs(id, { task: 't', type: 'stdout', plain: true })) {
      logs += Buffer.from(frame as Uint8Array).toString();
    }
    expect(logs).toBe('hello\n');
    agent.process.kill('SIGTERM');
    expect((await agent.ended).code).toBe(0);
    // Another agent cannot use the token.
    const other = installed.run(['agent', ...where.slice(0, 4), '--directory', join(installed.folder, 'other')]);
    expect((await other.ended).code).toBe(1);
    expect(other.error()).toContain('the token belongs to another node');
  });

  it('ends at once at a second signal, whichever they are', async () => {
    const server = installed.run(['serve', '--listen', '127.0.0.1:0', '--no-runner', '--access', 'open']);
    const url = await server.origin();
    const box = connect({ url });
    const task = { Name: 't', Driver: 'raw_exec', Config: { command: '/bin/sleep', args: ['300'] } };
    const group = { Name: 'g', Tasks: [{ ...task, Resources: { CPU: 10, MemoryMB: 10 } }] };
    const outcomes = ['SIGTERM SIGTERM', 'SIGINT SIGINT', 'SIGTERM SIGINT', 'SIGINT SIGTERM'].map(
      async (signals, at) => {
        const [first, second] = signals.split(' ') as NodeJS.Signals[];
        const where = ['--server', url, '--directory', join(installed.folder, `second-${at}`), '--name', signals];
        const agent = installed.run(['agent', ...where, '--on-stop', 'kill']);
        const nodeId = await agent.printed(/node (\S+) is registered with/);
        // What runs may finish: the agent waits ten seconds for it.
        const Constraints = [{ LTarget: '${node.unique.id}', RTarget: nodeId, Operand: '=' as const }];
        const job = { ID: `work-${at}`, Type: 'batch', Datacenters: ['*'], Constraints, TaskGroups: [group] } as const;
        (await box.jobs.register(job))._unsafeUnwrap();
        let found = (await box.jobs.allocations(job.ID))._unsafeUnwrap();
        while (found.value[0]?.ClientStatus !== 'running')
          found = (await box.jobs.allocations(job.ID, { index: found.index }))._unsafeUnwrap();
        agent.process.kill(first);
        // Nothing outside tells that it has taken the first one, so the second is sent until it has come after that.
        const sending = setInterval(() => agent.process.kill(second), 20);
        const ended = await agent.ended;
        clearInterval(sending);
        return [signals, ended];
      },
    );
    expect(await Promise.all(outcomes)).toEqual([
      ['SIGTERM SIGTERM', { code: null, signal: 'SIGTERM' }],
      ['SIGINT SIGINT', { code: null, signal: 'SIGINT' }],
      ['SIGTERM SIGINT', { code: null, signal: 'SIGINT' }],
      ['SIGINT SIGTERM', { code: null, signal: 'SIGTERM' }],
    ]);
  });

  it('says what is wrong with its token and its directory', async () => {
    const empty = join(installed.folder, 'empty');
    await writeFile(empty, '\n');
    const without = installed.run(['agent', '--token-file', empty]);
    expect(await without.ended).toMatchObject({ code: 1 });
    expect(without.error()).toContain('does not contain a secret');
    const missing = installed.run(['agent', '--token-file', join(installed.folder, 'nowhere')]);
    expect(await missing.ended).toMatchObject({ code: 1 });
    expect(missing.error()).toContain('cannot be read');
  });
});
