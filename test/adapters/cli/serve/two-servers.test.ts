import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { eventually, type Installation, installation } from '../../../support/installation.js';
import { patience } from '../../../support/patience.js';
import { endAll } from '../cli-process.js';

let installed: Installation | undefined;
afterEach(async () => {
  endAll();
  await installed?.remove();
});

/** Two servers with runners on one store and one runner directory. Both used to run the same allocations. */
it('a second server on a store says that the directory is taken, runs nothing twice, and takes over when it is free', async () => {
  installed = await installation();
  const first = await installed.serve();
  await installed.prepare(first.box);
  const second = await installed.serve();
  await expect
    .poll(() => second.child.error())
    .toMatch(/directory .+ is in use by process \d+; serving without a runner/);
  for (let n = 0; n < 10; n += 1) {
    const { box } = n % 2 === 0 ? first : second;
    (await box.jobs.dispatch('work', { meta: { n: String(n) } }))._unsafeUnwrap();
  }
  expect(await eventually(patience, () => ended().length === 10)).toBe(true);
  expect((await second.box.nodes.list())._unsafeUnwrap().value.items).toHaveLength(1);
  first.child.process.kill('SIGKILL');
  await first.child.ended;
  (await second.box.jobs.dispatch('work', { meta: { n: '10' } }))._unsafeUnwrap();
  expect(await eventually(patience, () => ended().length === 11)).toBe(true);
  expect([...(installed?.marks().values() ?? [])].map((marks) => marks.join())).toEqual(Array(11).fill('begin,end'));
});

/** A remote agent, connected to the first of two servers over one file: all commands reach it through the second as well. */
it('commands for a node reach it through every server on the store', async () => {
  installed = await installation();
  const first = await installed.serve(['--no-runner']);
  const url = await first.child.origin();
  const second = await installed.serve(['--no-runner']);
  const agent = installed.run([
    'agent',
    '--server',
    url,
    '--directory',
    join(installed.folder, 'work'),
    '--on-stop',
    'kill',
  ]);
  const nodeId = await agent.printed(/node (\S+) is registered with/);
  const script = 'echo hello; trap "echo signalled" USR1; while :; do sleep 0.05; done';
  const task = { Name: 't', Driver: 'raw_exec', Config: { command: '/bin/sh', args: ['-c', script] } };
  const job = { ID: 'far', Type: 'service', Datacenters: ['*'], TaskGroups: [{ Name: 'g', Tasks: [task] }] } as const;
  (await first.box.jobs.register(job))._unsafeUnwrap();
  const { box } = second;
  let listed = (await box.jobs.allocations('far'))._unsafeUnwrap();
  while (listed.value[0]?.ClientStatus !== 'running') {
    listed = (await box.jobs.allocations('far', { index: listed.index }))._unsafeUnwrap();
  }
  const id = listed.value[0].ID;
  const output = followed(box.files.logs(id, { task: 't', type: 'stdout', follow: true, plain: true }));
  await output.until('hello\n');
  (await box.allocations.signal(id, 'SIGUSR1'))._unsafeUnwrap();
  await output.until('hello\nsignalled\n');
  const [file] = (await box.files.list(id, { path: 'alloc/logs' }))._unsafeUnwrap();
  expect(file?.Name).toMatch(/^t\.std/);
  expect(Object.keys((await box.allocations.stats(id))._unsafeUnwrap().tasks)).toEqual(['t']);
  expect((await box.nodes.stats({ nodeId }))._unsafeUnwrap().uptime).toBeGreaterThan(0);
  const exec = installed.run(
    ['alloc', 'exec', '-task', 't', id, '/bin/sh', '-c', 'echo from $NOMAD_TASK_NAME; exit 3'],
    {
      SIGNALBOX_ADDR: await second.child.origin(),
    },
  );
  expect((await exec.ended).code).toBe(3);
  expect(exec.out()).toBe('from t\n');
  (await box.allocations.restart(id))._unsafeUnwrap();
  await output.until('hello\nsignalled\nhello\n');
  // The server that held the connection is gone: the node cannot be reached, and the message says through whom.
  first.child.process.kill('SIGKILL');
  await first.child.ended;
  const refused = (await box.allocations.stats(id))._unsafeUnwrapErr();
  expect(refused).toMatchObject({
    message: expect.stringMatching(/No path to node: its server \S+ does not respond/),
  });
});

/** Reads a stream of bytes in the background. */
function followed(stream: AsyncIterable<unknown>): { until(text: string): Promise<void> } {
  let got = '';
  void (async () => {
    for await (const bytes of stream) got += Buffer.from(bytes as Uint8Array).toString();
  })().catch(() => undefined);
  return { until: (text) => expect.poll(() => got).toBe(text) };
}

function ended(): string[] {
  return [...(installed?.marks() ?? [])].flatMap(([run, marks]) => (marks.includes('end') ? [run] : []));
}
