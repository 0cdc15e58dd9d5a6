import { readFileSync } from 'node:fs';
import { evaluateExpression, finish, renderDiagnostics, type Steps } from '../../../src/hcl/index.js';
import { parseJobInSteps } from '../../../src/jobs/parse-job.js';
import type { Entry } from './skeletons.js';

const ids = { next: (): string => '00000000-0000-4000-8000-000000000000' };

/** Everything that happens to a text in one call: read, evaluated, decoded, filled in, and its result or problems printed. */
export function processed(entry: Entry, text: string): string {
  if (entry !== 'expression') return printed(finish(jobSteps(entry, text)));
  const result = evaluateExpression(text, { unknownNames: 'text' });
  return result.isOk() ? result.value.text : renderDiagnostics(result.error);
}

/** The same in parts, as a service does it. */
export function* processedInSteps(entry: Entry, text: string): Steps<string> {
  if (entry === 'expression') return processed(entry, text);
  const result = yield* jobSteps(entry, text);
  return printed(result);
}

type ParsedJob = ReturnType<typeof parseJobInSteps> extends Steps<infer Value> ? Value : never;

function jobSteps(entry: Exclude<Entry, 'expression'>, text: string): Steps<ParsedJob> {
  const options = { canonicalize: true, ids };
  switch (entry) {
    case 'job':
    case 'json':
      return parseJobInSteps(text, options);
    case 'version-1':
      return parseJobInSteps(text, { ...options, hcl1: true });
    case 'variables':
    case 'variables-json':
      return parseJobInSteps(DECLARES_ONE, { ...options, variables: text });
    case 'flag':
      return parseJobInSteps(DECLARES_ONE, { ...options, variableFlags: { x: text } });
  }
}

const DECLARES_ONE = 'variable "x" {\n type = list(string)\n}\njob "a" {\n datacenters = var.x\n}\n';

function printed(result: ParsedJob): string {
  return result.isOk() ? JSON.stringify(result.value) : renderDiagnostics(result.error);
}

/** Milliseconds of processor time that the work took on this thread. */
export function processorTime(work: () => unknown): number {
  const before = threadTime();
  work();
  return threadTime() - before;
}

/** The longest turn of work in parts. */
export function longestTurn(steps: Steps<unknown>): number {
  let longest = 0;
  for (let done = false; !done; ) {
    const took = processorTime(() => {
      done = steps.next(true).done === true;
    });
    longest = Math.max(longest, took);
  }
  return longest;
}

/** Linux tells the time of one thread; elsewhere the time of the whole process, with its helper threads, is an upper bound. */
export function threadTime(): number {
  if (ownThread !== undefined) return Number(readFileSync(ownThread, 'latin1').split(' ', 1)[0]) / 1e6;
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e3;
}

const ownThread = ((): string | undefined => {
  const file = `/proc/self/task/${process.pid}/schedstat`;
  try {
    return Number(readFileSync(file, 'latin1').split(' ', 1)[0]) > 0 ? file : undefined;
  } catch {
    return undefined;
  }
})();
