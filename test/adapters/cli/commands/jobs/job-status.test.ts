import { describe, expect, it } from 'vitest';
import { jobStatusWord } from '../../../../../adapters/cli/output/job-status-word.js';
import { servedCommands } from '../../served-commands.js';

const { given, run } = servedCommands();

function batch(id: string, command: string, head = ''): string {
  return `job "${id}" {
    type = "batch"
    ${head}
    group "g" {
      restart {
        attempts = 0
        mode     = "fail"
      }
      reschedule {
        attempts  = 0
        unlimited = false
      }
      task "t" {
        driver = "raw_exec"
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

describe('the status of a job in a word', () => {
  it.each([
    [{ Status: 'running', Stop: false }, 'running'],
    [{ Status: 'dead', Stop: false, Outcome: 'succeeded' }, 'succeeded'],
    [{ Status: 'dead', Stop: false, Outcome: 'timed_out' }, 'timed out'],
    [{ Status: 'dead', Stop: true, Outcome: 'stopped' }, 'stopped'],
    [{ Status: 'dead', Stop: true, Outcome: 'failed' }, 'failed (stopped)'],
    [{ Status: 'dead', Stop: true }, 'stopped'],
    [{ Status: 'dead', Stop: false }, 'dead'],
    [{ Status: 'running', Stop: true }, 'running (stopped)'],
  ])('of %j', (job, word) => {
    expect(jobStatusWord(job)).toBe(word);
  });
});

describe('job status', () => {
  it('shows how jobs ended', async () => {
    await runs(batch('good', 'true'), '-wait');
    await runs(batch('bad', 'exit 1'), '-wait');
    await runs(batch('ended', 'exec sleep 1000'));
    await run('job', 'stop', 'ended');
    const list = (await run('job', 'status')).out;
    expect(list).toMatch(/^bad +batch +50 +failed +/m);
    expect(list).toMatch(/^good +batch +50 +succeeded +/m);
    await expect.poll(async () => (await run('job', 'status')).out).toMatch(/^ended +batch +50 +stopped +/m);
    expect((await run('node', 'pool', 'jobs', 'default')).out).toMatch(/^bad +default +batch +failed +/m);
    expect((await run('job', 'status', 'bad')).out).toMatch(/^Status +=? ?failed$/m);
    expect((await run('job', 'status', 'good')).out).toMatch(/^Status +=? ?succeeded$/m);
    expect((await run('job', 'status', 'bad')).out).toMatch(/^State +=? ?Failed$/m);
    expect((await run('job', 'status', 'good')).out).toMatch(/^State +=? ?Complete$/m);
    expect((await run('job', 'status', 'ended')).out).toMatch(/^State +=? ?Stopped$/m);
  });

  it('says in the words of the page that a job waits for room', async () => {
    await runs(batch('large', 'true').replace('memory = 16', 'memory = 100000000'));
    const { out } = await run('job', 'status', 'large');
    expect(out).toMatch(/^State +=? ?Waiting for room$/m);
    expect(JSON.parse((await run('job', 'status', '-json', 'large')).out)).toMatchObject({ state: 'Waiting for room' });
  });

  it('shows the next launches of a periodic job, and its last ones with their outcomes', async () => {
    const head = 'periodic {\n crons = ["0 0 1 1 *"]\n time_zone = "Europe/Berlin"\n}';
    await runs(batch('yearly', 'exit 1', head));
    const year = new Date().getUTCFullYear();
    const first = (await run('job', 'status', 'yearly')).out;
    expect(first).toContain(`Next launches: ${[0, 1, 2].map((at) => `${year + at}-12-31 23:00:00 UTC`).join(', ')}\n`);
    expect(first).not.toContain('Last instances');
    expect(first).toMatch(/^State +=? ?Scheduled$/m);
    await run('job', 'periodic', 'force', '-wait', 'yearly');
    await runs(batch('yearly/unrelated', 'true'));
    const { out } = await run('job', 'status', 'yearly');
    expect(out).toMatch(/^Last instances +Status +Submitted\nyearly\/periodic-\d+ +failed +\d{4}-/m);
    expect(out).not.toContain('unrelated');
    expect(JSON.parse((await run('job', 'status', '-json', 'yearly')).out)).toMatchObject({
      nextLaunches: [expect.any(Number), expect.any(Number), expect.any(Number)],
      lastInstances: [{ Outcome: 'failed' }],
    });
    await run('job', 'stop', 'yearly');
    expect((await run('job', 'status', 'yearly')).out).not.toContain('Next launches');
  });

  it('says when a schedule is over', async () => {
    await runs(batch('never', 'true', 'periodic {\n crons = ["0 0 30 2 *"]\n}'));
    expect((await run('job', 'status', 'never')).out).toContain('Next launches: none');
  });

  it('shows the last instances of a parameterized job', async () => {
    await runs(batch('called', 'true', 'parameterized {}'));
    await run('job', 'dispatch', '-wait', 'called');
    expect((await run('job', 'status', 'called')).out).toMatch(/^called\/dispatch-\S+ +succeeded +/m);
  });
});
