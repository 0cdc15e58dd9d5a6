import { expect, it } from 'vitest';
import { servedCommands } from '../../served-commands.js';

/* A server with Nomad's names lists outcomes for the command line, though not for Nomad's clients. */

const served = servedCommands('--names', 'upstream');
const { given, run } = served;

function batch(id: string, command: string, head = '', group = ''): string {
  return `job "${id}" {
    type = "batch"
    ${head}
    group "g" {
      ${group}
      restart {
        attempts = 0
        mode     = "fail"
      }
      reschedule {
        attempts  = 0
        unlimited = false
      }
      task "t" {
        driver       = "raw_exec"
        kill_timeout = "100ms"
        config {
          command = "/bin/sh"
          args    = ["-c", "${command}"]
        }
        resources {
          cpu    = 20
          memory = 16
        }
      }
    }
  }`;
}

const runs = (text: string, ...options: readonly string[]) =>
  given({ files: { '-': text } }, 'job', 'run', ...options, '-');

it('job status shows how jobs ended', async () => {
  await runs(batch('good', 'true'), '-wait');
  await runs(batch('bad', 'exit 1'), '-wait');
  await runs(batch('slow', 'exec sleep 1000', '', 'max_run_duration = "1s"'), '-wait');
  await runs(batch('ended', 'exec sleep 1000'));
  await run('job', 'stop', 'ended');
  await runs(batch('late', 'exit 1'), '-wait');
  await run('job', 'stop', 'late');
  await runs(batch('called', 'exit 1', 'parameterized {}'));
  await run('job', 'dispatch', '-wait', 'called');
  await expect.poll(async () => (await run('job', 'status')).out).toMatch(/^ended +batch +50 +stopped +/m);
  const list = (await run('job', 'status')).out;
  expect(list).toMatch(/^good +batch +50 +succeeded +/m);
  expect(list).toMatch(/^bad +batch +50 +failed +/m);
  expect(list).toMatch(/^slow +batch +50 +timed out +/m);
  expect(list).toMatch(/^late +batch +50 +failed \(stopped\) +/m);
  expect(list).toMatch(/^called +batch\/parameterized +50 +running +/m);
  expect(list).toMatch(/^called\/dispatch-\S+ +batch +50 +failed +/m);
  expect((await run('node', 'pool', 'jobs', 'default')).out).toMatch(/^bad +default +batch +failed +/m);
  expect((await run('job', 'status', 'good')).out).toMatch(/^Status +=? ?succeeded$/m);
  expect((await run('job', 'status', 'called')).out).toMatch(/^called\/dispatch-\S+ +failed +/m);
  // The members of the interface stay as they are.
  expect(await (await fetch(`${served.origin}/v1/jobs`)).text()).not.toContain('Outcome');
  const { out } = await run('job', 'status', '-json');
  expect(JSON.parse(out)).toContainEqual(expect.objectContaining({ ID: 'good', Outcome: 'succeeded' }));
});
