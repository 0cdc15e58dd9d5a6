import { setTimeout as pause } from 'node:timers/promises';
import { orThrow, SignalboxError } from '../../../../src/client/index.js';
import type { AllocationListStub } from '../../../../src/scheduler/index.js';
import { type Command, command, type Invocation, type OptionValues, option } from '../../command-line/command.js';
import { type Ask, asker } from '../../interactive/prompt.js';
import { inJson, inLines, short } from '../../output/tables.js';
import { replace, restartInPlace } from '../../restart/renew-allocation.js';
import { Stopped } from '../../stopped.js';
import { existing } from '../find-record.js';
import { durationOption, optional } from '../option-values.js';

const options = {
  'batch-size': option.text('N', 'allocations per batch, as a number or a percentage (1)'),
  'batch-wait': option.text('TIME', 'wait between batches, or ask (0s)'),
  group: option.list('GROUP', 'only allocations of this group, may be repeated'),
  task: option.text('TASK', 'only this task'),
  'all-tasks': option.flag('include tasks that have ended, all from the beginning'),
  reschedule: option.flag('replace the allocations with new ones, possibly on other nodes'),
  'no-shutdown-delay': option.flag('with --reschedule: stop the tasks without shutdown delays'),
  'on-error': option.text('WHAT', 'what to do when an allocation does not run again (fail)', [
    'fail',
    'continue',
    'ask',
  ]),
  yes: option.flag('answer yes to every question'),
} as const;

type Options = OptionValues<typeof options>;

/** `job restart`: restarts the running allocations of a job in batches. */
export const restartJob: Command = command({
  usage: 'job restart JOB',
  summary: 'restart or replace the running allocations of a job, batch by batch; waits until each batch runs again',
  options,
  run: async (invocation, jobId = '') => {
    assertFit(invocation.options);
    const chosen = await chosenAllocations(invocation, jobId, invocation.options);
    const size = batchSizeFrom(invocation.options['batch-size'] ?? '1', chosen.length);
    return new Restart(invocation, jobId, invocation.options).run(batchesOf(chosen, size));
  },
});

function assertFit(wanted: Options): void {
  const kinds = (['task', 'all-tasks', 'reschedule'] as const).filter((name) => Boolean(wanted[name]));
  if (kinds.length > 1) throw new Stopped(`give one of ${kinds.map((name) => `--${name}`).join(' and ')}`, 2);
  if (wanted['no-shutdown-delay'] && !wanted.reschedule) throw new Stopped('--no-shutdown-delay needs --reschedule', 2);
}

async function chosenAllocations(
  { box, inNamespace }: Invocation,
  jobId: string,
  { group, task }: Options,
): Promise<readonly AllocationListStub[]> {
  const job = await existing(box.jobs.read(jobId, inNamespace), `job ${jobId}`);
  const groups = job.TaskGroups.filter(({ Name }) => group.length === 0 || group.includes(Name));
  const unknown = group.filter((name) => !job.TaskGroups.some(({ Name }) => Name === name));
  if (unknown.length > 0) throw new Stopped(`job ${jobId} has no group ${unknown.join(', ')}`);
  const names = groups
    .filter(({ Tasks }) => task === undefined || Tasks.some(({ Name }) => Name === task))
    .map(({ Name }) => Name);
  if (names.length === 0) throw new Stopped(`job ${jobId} has no task ${task}`);
  const { value } = await orThrow(box.jobs.allocations(jobId, inNamespace));
  const running = (value ?? [])
    .filter(({ ClientStatus, DesiredStatus }) => ClientStatus === 'running' && DesiredStatus === 'run')
    .filter(({ TaskGroup }) => names.includes(TaskGroup))
    .sort((a, b) => a.CreateIndex - b.CreateIndex || (a.Name < b.Name ? -1 : 1));
  if (running.length === 0) throw new Stopped(`job ${jobId} has no running allocation`);
  return running;
}

/** One run of the command. With `--json` it prints the result for each allocation, else progress lines for each batch. */
class Restart {
  readonly #invocation: Invocation;
  readonly #jobId: string;
  readonly #options: Options;
  readonly #ask: Ask;
  readonly #wait: number | 'ask';
  readonly #restarted: { readonly ID: string; readonly NextAllocation?: string }[] = [];
  readonly #failed: { readonly ID: string; readonly Message: string }[] = [];

  constructor(invocation: Invocation, jobId: string, wanted: Options) {
    this.#invocation = invocation;
    this.#jobId = jobId;
    this.#options = wanted;
    this.#ask = wanted.yes ? async () => true : asker(invocation.terminal);
    const wait = wanted['batch-wait'] ?? '0s';
    this.#wait = wait === 'ask' ? 'ask' : durationOption('batch-wait', wait);
  }

  async run(batches: readonly (readonly AllocationListStub[])[]): Promise<number> {
    const total = batches.reduce((sum, batch) => sum + batch.length, 0);
    this.#say(
      `${counted(total)} of job ${this.#jobId} in ${batches.length} ${batches.length === 1 ? 'batch' : 'batches'}`,
    );
    for (const [at, batch] of batches.entries()) {
      this.#say(`batch ${at + 1} of ${batches.length}: ${batch.map(({ ID }) => short(ID)).join(', ')}`);
      const failed = this.#failed.length;
      await Promise.all(batch.map((allocation) => this.#renew(allocation)));
      const isLast = at === batches.length - 1;
      if (this.#failed.length > failed && !isLast && !(await this.#goesOnAfterError())) break;
      if (!isLast && !(await this.#goesOnAfterWait())) break;
    }
    return this.#outcome(total);
  }

  async #renew({ ID }: AllocationListStub): Promise<void> {
    const { box } = this.#invocation;
    const { reschedule, task, 'all-tasks': all, 'no-shutdown-delay': noShutdownDelay } = this.#options;
    try {
      if (reschedule) {
        const next = await replace(box, ID, noShutdownDelay);
        this.#restarted.push({ ID, NextAllocation: next });
        this.#say(`  allocation ${short(ID)} is replaced by ${short(next)}`);
      } else {
        await restartInPlace(box, ID, { ...optional('task', task), all });
        this.#restarted.push({ ID });
        this.#say(`  allocation ${short(ID)} runs again`);
      }
    } catch (error) {
      if (!(error instanceof Stopped || error instanceof SignalboxError)) throw error;
      this.#failed.push({ ID, Message: error.message });
      this.#invocation.terminal.error(`  ${error.message.trimEnd()}\n`);
    }
  }

  async #goesOnAfterError(): Promise<boolean> {
    const onError = this.#options['on-error'] ?? 'fail';
    return onError === 'continue' || (onError === 'ask' && (await this.#ask('continue with the next batch?')));
  }

  async #goesOnAfterWait(): Promise<boolean> {
    if (this.#wait === 'ask') return this.#ask('continue with the next batch?');
    if (this.#wait > 0) {
      this.#say(`waiting ${this.#options['batch-wait']}`);
      await pause(this.#wait);
    }
    return true;
  }

  #outcome(total: number): number {
    const { terminal, json } = this.#invocation;
    const left = total - this.#restarted.length - this.#failed.length;
    if (json) {
      const answer = { Restarted: this.#restarted, Failed: this.#failed, Left: left };
      terminal.out(`${inJson(answer, 2)}\n`);
    }
    this.#say(`${counted(this.#restarted.length)} restarted, ${this.#failed.length} failed, ${left} unchanged`);
    return this.#failed.length + left === 0 ? 0 : 1;
  }

  #say(line: string): void {
    if (!this.#invocation.json) this.#invocation.terminal.out(`${inLines(line)}\n`);
  }
}

function counted(count: number): string {
  return `${count} ${count === 1 ? 'allocation' : 'allocations'}`;
}

/** Size of a batch: a number, or a percentage of the total, rounded up. At least one. */
export function batchSizeFrom(text: string, total: number): number {
  const [, digits, percent] = /^(\d{1,9})(%?)$/.exec(text) ?? [];
  const number = Number(digits);
  if (digits === undefined || number === 0 || (percent === '%' && number > 100)) {
    throw new Stopped(
      `--batch-size takes a number or a percentage such as 25%, not ${JSON.stringify(text.slice(0, 40))}`,
      2,
    );
  }
  return percent === '%' ? Math.max(1, Math.ceil((total * number) / 100)) : number;
}

export function batchesOf<T>(items: readonly T[], size: number): readonly (readonly T[])[] {
  const batches: T[][] = [];
  for (let at = 0; at < items.length; at += size) batches.push(items.slice(at, at + size));
  return batches;
}
