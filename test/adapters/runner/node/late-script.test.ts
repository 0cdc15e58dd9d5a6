import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ok } from 'neverthrow';
import { expect, it } from 'vitest';
import type { TaskDriver } from '../../../../adapters/runner/index.js';
import { hostPrincipal } from '../../../../src/index.js';
import { registerJob } from '../../../../src/operations/jobs/registration/register-job.js';
import { eventually } from '../../../support/installation.js';
import { groupDocument } from '../../../support/jobs.js';
import { patience } from '../../../support/patience.js';
import { settled } from '../../../support/settled.js';
import { endVirtualRunners, virtualRunner } from './virtual-runner.js';

endVirtualRunners();

/** A driver whose tasks end, and whose commands beside them answer, when the test says so. */
function heldDriver() {
  const ends: { task(): void; script(): void } = { task: () => undefined, script: () => undefined };
  let scripts = 0;
  const nothing = (): void => undefined;
  const driver: TaskDriver = {
    name: 'held',
    survives: false,
    start: () => {
      const exited = new Promise<{ type: 'exited'; code: number; signal: number }>((resolve) => {
        ends.task = () => resolve({ type: 'exited', code: 0, signal: 0 });
      });
      return Promise.resolve({
        type: 'running',
        task: { exited, signal: nothing, destroy: nothing, release: nothing },
      });
    },
    recover: () => Promise.resolve({ type: 'never_started' }),
    exec: () => {
      scripts += 1;
      const ended = new Promise<void>((resolve) => {
        ends.script = resolve;
      });
      return Promise.resolve(
        ok(
          (async function* () {
            await ended;
            yield { type: 'exited', code: 0 } as const;
          })(),
        ),
      );
    },
  };
  return { driver, ends, scripts: () => scripts };
}

it('what a script says after the folder of its allocation was removed does not make the folder anew', async () => {
  const { driver, ends, scripts } = heldDriver();
  const runner = await virtualRunner({
    wait: () => Promise.resolve(),
    options: { drivers: [driver], keepFinished: 0 },
  });
  const ChangeScript = { Command: '/bin/true', Timeout: 600_000_000_000, RunOnFirstRender: true };
  const Templates = [{ EmbeddedTmpl: 'text', DestPath: 'local/file', ChangeMode: 'script', ChangeScript }];
  const group = groupDocument({}, { Driver: 'held', Templates });
  const job = { ID: 'work', Type: 'batch' as const, Datacenters: ['*'], TaskGroups: [group] };
  (await registerJob(runner.engine, hostPrincipal, { job }))._unsafeUnwrap();
  await runner.until(([first]) => first?.ClientStatus === 'running' && scripts() === 1);
  const [allocation] = await runner.allocations();
  const folder = join(runner.directory, 'allocations', allocation?.ID ?? '');
  ends.task();
  await runner.until(([first]) => first?.ClientStatus === 'complete');
  expect(await eventually(patience, () => !existsSync(folder))).toBe(true);
  await settled();
  ends.script();
  await settled();
  expect(existsSync(folder)).toBe(false);
});
