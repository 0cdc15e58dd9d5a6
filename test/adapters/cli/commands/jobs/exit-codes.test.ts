import { describe, expect, it } from 'vitest';
import { servedCommands } from '../../served-commands.js';

/* Pipelines read the exit code of a command that has something placed: 0 it works, 1 it failed, 2 it could not be placed. */

const { given, run } = servedCommands();

interface JobParts {
  readonly type?: string;
  readonly driver?: string;
  readonly cpu?: number;
  readonly constraint?: string;
  readonly command?: string;
  readonly head?: string;
  readonly group?: string;
}

let jobs = 0;
function nextId(): string {
  jobs += 1;
  return `code-${jobs}`;
}

function job(id: string, { driver = 'raw_exec', command = 'exec sleep 1000', cpu = 20, ...parts }: JobParts): string {
  return `job "${id}" {
    type = "${parts.type ?? 'service'}"
    ${parts.head ?? ''}
    group "g" {
      ${parts.group ?? ''}
      ${parts.constraint === undefined ? '' : `constraint {\n attribute = "\${attr.kernel.name}"\n value = "${parts.constraint}"\n}`}
      update {
        min_healthy_time = "10ms"
        max_parallel     = 1
      }
      restart {
        attempts = 0
        mode     = "fail"
      }
      reschedule {
        attempts  = 0
        unlimited = false
      }
      task "t" {
        driver = "${driver}"
        config {
          command = "/bin/sh"
          args    = ["-c", "${command}"]
        }
        resources {
          cpu    = ${cpu}
          memory = 16
        }
      }
    }
  }`;
}

const noUpdate = (text: string): string => text.replace(/update \{[^}]*\}/, '');
const ofType = (id: string, parts: JobParts): string => {
  const text = job(id, parts);
  const batch = parts.type === 'batch' || parts.type === 'sysbatch';
  const withoutUpdate = batch ? noUpdate(text) : text;
  return parts.type === 'system' || parts.type === 'sysbatch'
    ? withoutUpdate.replace(/reschedule \{[^}]*\}/, '')
    : withoutUpdate;
};

function runs(text: string, ...options: readonly string[]) {
  return given({ files: { '-': text } }, 'job', 'run', ...options, '-');
}

describe.each(['service', 'batch', 'system', 'sysbatch'])('a new %s job', (type) => {
  it.each([
    ['needs more than any node has', { cpu: 999_999 }, /dimension "cpu"/],
    ['needs a driver that no node has', { driver: 'docker' }, /missing driver "docker"/],
    ['has a constraint that no node meets', { constraint: 'plan9' }, /constraint "\$\{attr\.kernel\.name\} = plan9"/],
  ])('that %s ends job run with 2 and the reason', async (_name, parts, reason) => {
    const id = nextId();
    const { code, error, out } = await runs(ofType(id, { type, ...parts }));
    expect({ code, error }).toMatchObject({ code: 2, error: expect.stringMatching(reason) });
    expect(error).toContain(`job "${id}" could not be placed: group "g" (1 unplaced)`);
    expect(out).toMatch(reason);
  });

  it('that is placed ends job run with 0, and is planned as unchanged with 0', async () => {
    const text = ofType(nextId(), { type });
    expect(await runs(text)).toMatchObject({ code: 0, error: '' });
    const plan = await given({ files: { '-': text } }, 'job', 'plan', '-');
    expect(plan).toMatchObject({ code: 0, out: expect.stringContaining('no changes') });
    expect((await given({ files: { '-': text } }, 'job', 'plan', '-no-diff', '-')).code).toBe(0);
    const other = await given({ files: { '-': text.replace('1000', '1001') } }, 'job', 'plan', '-');
    expect(other.code).toBe(1);
  });
});

describe('job run', () => {
  it('ends with 2 at once for an update of a running service that fits no node', async () => {
    const id = nextId();
    expect((await runs(job(id, {}))).code).toBe(0);
    expect(await runs(job(id, { cpu: 999_999 }))).toMatchObject({
      code: 2,
      error: expect.stringMatching(/dimension "cpu"/),
    });
  });

  it('ends with 2 for canaries that fit no node', async () => {
    const id = nextId();
    expect((await runs(job(id, {}))).code).toBe(0);
    const canaries = job(id, { cpu: 999_999 }).replace('max_parallel     = 1', 'canary = 1');
    expect((await runs(canaries)).code).toBe(2);
  });

  it('ends with 1 when the new version fails', async () => {
    const id = nextId();
    const text = job(id, { command: 'exit 1' }).replace('min_healthy_time = "10ms"', 'min_healthy_time = "1m"');
    expect((await runs(text.replace('max_parallel     = 1', 'progress_deadline = "0s"'))).code).toBe(1);
  });

  it('ends with 0 when detached, and with 2 when its answer is printed as JSON', async () => {
    const id = nextId();
    expect((await runs(job(id, { cpu: 999_999 }), '-detach')).code).toBe(0);
    const asJson = await runs(job(id, { cpu: 999_998 }), '-json');
    expect(asJson).toMatchObject({ code: 2, error: expect.stringMatching(/dimension "cpu"/) });
    expect(JSON.parse(asJson.out)).toMatchObject({ evalId: expect.any(String) });
  });

  it('follows a job in the namespace that its file names', async () => {
    expect((await run('namespace', 'apply', 'team')).code).toBe(0);
    const text = job(nextId(), { head: 'namespace = "team"', cpu: 999_999 });
    expect((await runs(text)).code).toBe(2);
  });

  it('ends a start and a revert in the same way', async () => {
    const id = nextId();
    expect((await runs(job(id, { cpu: 999_999 }))).code).toBe(2);
    expect((await run('job', 'stop', id)).code).toBe(0);
    expect((await run('job', 'start', id)).code).toBe(2);
    expect((await runs(job(id, {}))).code).toBe(0);
    expect((await run('job', 'revert', id, '0')).code).toBe(2);
    expect((await run('job', 'eval', id)).code).toBe(2);
  });

  it('ends scaling beyond the room with 2', async () => {
    const id = nextId();
    expect((await runs(job(id, { cpu: 200 }))).code).toBe(0);
    expect((await run('job', 'scale', id, 'g', '500')).code).toBe(2);
    expect((await run('job', 'stop', '-purge', id)).code).toBe(0);
  });
});

describe('instances', () => {
  it('that cannot be placed end job dispatch and job periodic force with 2', async () => {
    const called = nextId();
    const head = 'parameterized {}';
    expect((await runs(ofType(called, { type: 'batch', cpu: 999_999, head }))).code).toBe(0);
    const dispatched = await run('job', 'dispatch', called);
    expect(dispatched).toMatchObject({ code: 2, error: expect.stringMatching(/dimension "cpu"/) });
    const timed = nextId();
    const cron = 'periodic {\n crons = ["0 0 1 1 *"]\n}';
    expect((await runs(ofType(timed, { type: 'batch', driver: 'docker', head: cron }))).code).toBe(0);
    const forced = await run('job', 'periodic', 'force', timed);
    expect(forced).toMatchObject({ code: 2, error: expect.stringMatching(/missing driver "docker"/) });
    expect((await run('job', 'periodic', 'force', '-detach', timed)).code).toBe(0);
  });
});

describe('-wait', () => {
  it.each([
    ['succeeds', 'true', 0, /job "code-\d+" has ended: succeeded\n$/],
    [
      'fails',
      'exit 3',
      1,
      /job "code-\d+" has ended: failed\n {2}allocation \w{8} of group "g" on .*: signalbox alloc status/,
    ],
  ])('waits for the end of a batch job that %s', async (_name, command, code, end) => {
    const ended = await runs(ofType(nextId(), { type: 'batch', command }), '-wait');
    expect(ended).toMatchObject({ code, out: expect.stringMatching(end) });
  });

  it('fails for a job that reached its longest duration', async () => {
    const text = ofType(nextId(), { type: 'batch', group: 'max_run_duration = "1s"' });
    expect(await runs(text, '-wait')).toMatchObject({ code: 1, out: expect.stringMatching(/has ended: timed out\n/) });
  });

  it('waits for instances', async () => {
    const called = nextId();
    await runs(ofType(called, { type: 'batch', command: 'exit 4', head: 'parameterized {}' }));
    expect((await run('job', 'dispatch', '-wait', called)).code).toBe(1);
    const timed = nextId();
    const head = 'periodic {\n crons = ["0 0 1 1 *"]\n}';
    await runs(ofType(timed, { type: 'sysbatch', command: 'true', head }));
    expect((await run('job', 'periodic', 'force', '-wait', timed)).code).toBe(0);
  });

  it('ends with 1 when the job is stopped', async () => {
    const id = nextId();
    let stopped: Promise<unknown> | undefined;
    const ended = await given(
      {
        files: { '-': ofType(id, { type: 'batch' }) },
        onOutput: (out) => {
          if (out.includes('is running\n')) stopped ??= run('job', 'stop', '-detach', id);
        },
      },
      'job',
      'run',
      '-wait',
      '-',
    );
    await stopped;
    expect(ended).toMatchObject({ code: 1, out: expect.stringMatching(/has ended: stopped\n/) });
  });

  it('is refused where nothing ends', async () => {
    const refused = async (...words: readonly string[]) =>
      given({ files: { '-': job(nextId(), {}) } }, 'job', 'run', '-wait', ...words, '-');
    expect(await refused()).toMatchObject({ code: 2, error: expect.stringContaining('this is a service job') });
    expect(await refused('-detach')).toMatchObject({ code: 2, error: expect.stringContaining('exclude each other') });
    const timed = ofType(nextId(), { type: 'batch', head: 'periodic {\n crons = ["0 0 1 1 *"]\n}' });
    expect(await runs(timed, '-wait')).toMatchObject({
      code: 2,
      error: expect.stringContaining('next scheduled time'),
    });
  });
});
