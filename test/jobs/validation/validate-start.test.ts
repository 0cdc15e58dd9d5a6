import { describe, expect, test } from 'vitest';
import type { JobInput as StrictJobInput } from '../../../src/jobs/document/submitted-job.js';
import { validateJob } from '../../../src/jobs/validation/validate-job.js';
import { isSignal, maximumArgument } from '../../../src/jobs/validation/validate-strings.js';
import type { Loose } from '../../support/loose.js';
import { canonicalJob } from '../canonical-job.js';

/** Also with values that the type forbids. */
type JobInput = Loose<StrictJobInput>;

type GroupInput = NonNullable<NonNullable<JobInput['TaskGroups']>[number]>;
type TaskInput = NonNullable<NonNullable<GroupInput['Tasks']>[number]>;

function errors(job: JobInput): readonly string[] {
  return validateJob(canonicalJob({ ID: 'web', Name: 'web', TaskGroups: [{ Name: 'g', Tasks: [task()] }], ...job }))
    .errors;
}

function task(part: TaskInput = {}): TaskInput {
  return { Name: 't', Driver: 'raw_exec', ...part };
}

const ofGroup = (part: GroupInput): JobInput => ({ TaskGroups: [{ Name: 'g', Tasks: [task()], ...part }] });
const ofTask = (part: TaskInput): JobInput => ofGroup({ Tasks: [task(part)] });
const text = (length: number) => 'x'.repeat(length);
const nul = 'a\0b';

describe('texts with a NUL', () => {
  test.each<[string, JobInput, string]>([
    ['a key of the meta of a job', { Meta: { [nul]: 'x' } }, 'meta: the key "a\\u0000b" must not contain NUL'],
    ['a value of the meta of a job', { Meta: { a: nul } }, 'meta: the value of "a" must not contain NUL'],
    ['meta of a group', ofGroup({ Meta: { a: nul } }), 'group "g": meta: the value of "a"'],
    ['meta of a task', ofTask({ Meta: { a: nul } }), 'group "g": task "t": meta: the value of "a"'],
    ['a key of the environment', ofTask({ Env: { [nul]: 'x' } }), 'env: the key'],
    ['a value of the environment', ofTask({ Env: { a: nul } }), 'env: the value of "a"'],
    ['the command', ofTask({ Config: { command: nul } }), 'the command and its arguments must not contain NUL'],
    ['an argument', ofTask({ Config: { args: ['a', nul] } }), 'the command and its arguments must not contain NUL'],
    ['the user', ofTask({ User: nul }), 'user must not contain NUL'],
    ['the payload file', ofTask({ DispatchPayload: { File: nul } }), 'the file of dispatch_payload'],
    [
      'an artifact',
      ofTask({ Artifacts: [{ GetterSource: 's', RelativeDest: nul }] }),
      'the destination of an artifact',
    ],
    ['a template', ofTask({ Templates: [{ EmbeddedTmpl: 'x', DestPath: nul }] }), 'the destination of a template'],
    ['a mount', ofTask({ VolumeMounts: [{ Volume: 'v', Destination: nul }] }), 'the destination of a volume_mount'],
    ['an action', ofTask({ Actions: [{ Name: 'a', Command: '/x', Args: [nul] }] }), 'action "a": the command'],
    [
      'a change script',
      ofTask({ Templates: [{ EmbeddedTmpl: 'x', DestPath: 'a', ChangeScript: { Command: nul } }] }),
      'template 1: change_script',
    ],
  ])('%s', (_what, job, problem) => {
    expect(errors(job)).toContainEqual(expect.stringContaining(problem));
  });
});

describe('sizes that no process can be given', () => {
  test('one variable', () => {
    expect(errors(ofTask({ Env: { A: text(maximumArgument - 2) } }))).toEqual([]);
    expect(errors(ofTask({ Env: { A: text(maximumArgument - 1) } }))).toEqual([expect.stringContaining('env: "A"')]);
    expect(errors({ Meta: { A: 'ü'.repeat(65_536) } })).toEqual([expect.stringContaining('meta: "A"')]);
  });

  test('one argument', () => {
    expect(errors(ofTask({ Config: { args: [text(maximumArgument)] } }))).toEqual([]);
    expect(errors(ofTask({ Config: { args: [text(maximumArgument + 1)] } }))).toEqual([
      expect.stringContaining('must not be longer than 131071 bytes each'),
    ]);
  });

  test('all together, the meta twice', () => {
    const big = text(130_000);
    const env = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`V${at}`, big]));
    expect(errors(ofTask({ Env: env(15) }))).toEqual([]);
    expect(errors(ofTask({ Env: env(16) }))).toEqual([expect.stringContaining('more than the 2031616')]);
    expect(errors({ ...ofTask({ Env: env(10) }), Meta: env(2) })).toEqual([]);
    expect(errors({ ...ofTask({ Env: env(10) }), Meta: env(3) })).toEqual([expect.stringContaining('more than')]);
  });
});

describe('signals', () => {
  test.each(['SIGINT', 'sigterm', 'SIGUSR2', ''])('%s is known or none', (KillSignal) => {
    expect(errors(ofTask({ KillSignal }))).toEqual([]);
  });

  test.each<[TaskInput, string]>([
    [{ KillSignal: 'SIGWHAT' }, 'kill_signal names the unknown signal "SIGWHAT"'],
    [{ KillSignal: '9' }, 'unknown signal "9"'],
    [
      { Templates: [{ EmbeddedTmpl: 'x', DestPath: 'a', ChangeMode: 'signal', ChangeSignal: 'hup' }] },
      'template 1: change_signal names the unknown signal "HUP"',
    ],
    [
      { Identities: [{ Name: 'i', Audience: ['x'], TTL: 1, ChangeMode: 'signal', ChangeSignal: 'x' }] },
      'identity "i": change_signal names the unknown signal "X"',
    ],
  ])('%j', (part, problem) => {
    expect(errors(ofTask(part))).toEqual([expect.stringContaining(problem)]);
  });

  test('inherited members of objects are no signals', () => {
    expect(isSignal('constructor')).toBe(false);
  });
});
