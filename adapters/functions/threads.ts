import { Worker } from 'node:worker_threads';
import {
  type FunctionDefinition,
  type Handler,
  NonRetryableError,
  RetryAfterError,
  type RunContext,
  RunFailedError,
  Snooze,
} from '../../src/functions.js';

/** From an abort until the thread is ended. */
const grace = 1000;
/** How long a thread without work is kept. */
const idleTime = 30_000;

/** An error as it passes between threads. */
interface PassedError {
  readonly name: string;
  readonly message: string;
  readonly stack: string;
  readonly code?: string;
  readonly wait?: number | string | Date;
  readonly failure?: Pick<RunFailedError, 'runId' | 'outcome' | 'error'>;
}

/** What a thread asks for, or reports. Questions have an ID, with which they are answered. */
type FromThread =
  | { readonly type: 'ended'; readonly value?: unknown; readonly error?: PassedError }
  | { readonly type: 'log'; readonly level: 'info' | 'error'; readonly text: string }
  | { readonly type: 'progress'; readonly value: never }
  | { readonly type: 'heartbeat' }
  | { readonly type: 'step'; readonly id: number; readonly name: string }
  | { readonly type: 'worked'; readonly id: number; readonly value?: unknown; readonly error?: PassedError }
  | { readonly type: 'call'; readonly id: number; readonly name: string; readonly fn: string; readonly input: unknown };

/**
 * The program of a thread: loads the module once, and calls its default export for one attempt after the other. In the source, because a file
 * would not be found when the host is bundled.
 */
const program = `
const { parentPort, workerData } = require('node:worker_threads');
const pending = new Map();
let last = 0;
let controller;
const passed = (error) => {
  try {
    const sent = described(error);
    return structuredClone(sent);
  } catch {
    return { name: 'Error', message: 'something that cannot be read was thrown', stack: '' };
  }
};
const described = (error) => {
  const isError = error instanceof Error;
  const failure = isError && error.name === 'RunFailedError'
    ? { runId: error.runId, outcome: error.outcome, error: error.error } : undefined;
  return {
    name: isError ? String(error.name) : 'Error',
    message: isError ? String(error.message) : 'thrown: ' + String(error),
    stack: isError ? String(error.stack) : '',
    ...(isError && typeof error.code === 'string' ? { code: error.code } : {}),
    ...(isError && error.wait !== undefined ? { wait: error.wait } : {}),
    ...(failure === undefined ? {} : { failure }),
  };
};
const restored = ({ name, message, stack, code, wait, failure }) =>
  Object.assign(new Error(message), { name, stack }, code === undefined ? {} : { code },
    wait === undefined ? {} : { wait }, failure ?? {});
const ask = (question, work) => new Promise((resolve, reject) => {
  const id = ++last;
  pending.set(id, { resolve, reject, work });
  parentPort.postMessage({ ...question, id });
});
const context = ({ id, attempt, isLastAttempt, meta, dueAt }, { signal }) => ({
  id, attempt, isLastAttempt, meta, dueAt, signal,
  log: {
    info: (text) => parentPort.postMessage({ type: 'log', level: 'info', text: String(text) }),
    error: (text) => parentPort.postMessage({ type: 'log', level: 'error', text: String(text) }),
  },
  progress: (value) => parentPort.postMessage({ type: 'progress', value }),
  heartbeat: () => parentPort.postMessage({ type: 'heartbeat' }),
  step: (name, work) => ask({ type: 'step', name }, work),
  call: (name, fn, input) => ask({ type: 'call', name, fn: String(fn && fn.name), input }),
  commit: () => {
    throw Object.assign(new Error('run.commit is not possible in a thread'), { name: 'NonRetryableError' });
  },
});
const send = (message) => {
  try {
    parentPort.postMessage(message);
  } catch (error) {
    const { value, ...rest } = message;
    parentPort.postMessage({ ...rest, error: { ...passed(error), name: 'NonRetryableError' } });
  }
};
const on = {
  async begin({ input, run }) {
    controller = new AbortController();
    try {
      const { default: handler } = await import(workerData);
      if (typeof handler !== 'function')
        throw Object.assign(new Error('the default export of ' + workerData + ' is not a function'), { name: 'NonRetryableError' });
      const value = await handler(input, context(run, controller));
      send({ type: 'ended', value });
    } catch (error) {
      parentPort.postMessage({ type: 'ended', error: passed(error) });
    }
  },
  abort({ name, message }) {
    controller?.abort(Object.assign(new Error(message), { name }));
  },
  async work({ id }) {
    try {
      send({ type: 'worked', id, value: await pending.get(id).work() });
    } catch (error) {
      parentPort.postMessage({ type: 'worked', id, error: passed(error) });
    }
  },
  answer({ id, value, error }) {
    const { resolve, reject } = pending.get(id);
    pending.delete(id);
    if (error === undefined) resolve(value);
    else reject(restored(error));
  },
};
parentPort.on('message', (message) => on[message.type](message));
`;

/** Gets what a thread sends, and its end. */
interface Listener {
  message(message: FromThread): void;
  broken(error: Error): void;
}

/** A thread that runs one attempt after the other. */
interface Thread {
  readonly worker: Worker;
  listener: Listener | undefined;
  timer: NodeJS.Timeout | undefined;
}

/** Threads without work, by module. */
const idle = new Map<string, Set<Thread>>();

/** A handler that runs the default export of a module in a thread. A thread that is not aborted is used again. */
export function inThread(module: URL, definitions: readonly { readonly name: string }[]): Handler<unknown, unknown> {
  return async (input, run) => {
    const thread = taken(module.href);
    const ended = await attemptIn(thread, { input, run, definitions });
    thread.listener = undefined;
    // One that has failed otherwise than by its handler is at its end, and one that was aborted may continue to work.
    if (ended.isUsable && !run.signal.aborted) keep(module.href, thread);
    else void thread.worker.terminate();
    // A thread that was ended has no error: the attempt says why it was aborted.
    if (!ended.isUsable && run.signal.aborted) return undefined;
    if (ended.error !== undefined) throw ended.error;
    return ended.value;
  };
}

function taken(href: string): Thread {
  const [found] = idle.get(href) ?? [];
  if (found === undefined) return begun(href);
  idle.get(href)?.delete(found);
  clearTimeout(found.timer);
  found.worker.ref();
  return found;
}

function begun(href: string): Thread {
  const worker = new Worker(program, { eval: true, workerData: href });
  const thread: Thread = { worker, listener: undefined, timer: undefined };
  const broken = (error: Error): void => {
    idle.get(href)?.delete(thread);
    clearTimeout(thread.timer);
    thread.listener?.broken(error);
  };
  worker.on('message', (message: FromThread) => {
    // A module may send other messages, which are none of these.
    try {
      thread.listener?.message(message);
    } catch (error) {
      thread.listener?.broken(error as Error);
    }
  });
  // What a module does after its handler has ended must not end the process.
  worker.on('error', broken);
  worker.on('messageerror', broken);
  worker.on('exit', (code) => broken(new Error(`the thread ended with code ${code} before its handler`)));
  return thread;
}

function keep(href: string, thread: Thread): void {
  thread.worker.unref();
  idle.set(href, (idle.get(href) ?? new Set()).add(thread));
  thread.timer = setTimeout(() => {
    idle.get(href)?.delete(thread);
    void thread.worker.terminate();
  }, idleTime).unref();
}

interface Work {
  readonly input: unknown;
  readonly run: RunContext;
  readonly definitions: readonly { readonly name: string }[];
}

/** How a handler has ended in its thread, and whether the thread can be used again. */
interface ThreadEnd {
  readonly isUsable: boolean;
  readonly value?: unknown;
  readonly error?: Error;
}

async function attemptIn(thread: Thread, work: Work): Promise<ThreadEnd> {
  const { run, input } = work;
  const { worker } = thread;
  let timer: NodeJS.Timeout | undefined;
  const abort = (): void => {
    const { name, message } = run.signal.reason as Error;
    worker.postMessage({ type: 'abort', name, message });
    timer = setTimeout(() => void worker.terminate(), grace).unref();
  };
  try {
    return await new Promise<ThreadEnd>((resolve) => {
      const broken = (error: Error): void => resolve({ isUsable: false, error });
      const answers = answersOf(worker, work, broken);
      const message = (sent: FromThread): void => {
        if (sent.type !== 'ended') answers(sent);
        else if (sent.error === undefined) resolve({ isUsable: true, value: sent.value });
        else resolve({ isUsable: true, error: restored(sent.error) });
      };
      thread.listener = { message, broken };
      const { id, attempt, isLastAttempt, meta, dueAt } = run;
      try {
        worker.postMessage({ type: 'begin', input, run: { id, attempt, isLastAttempt, meta, dueAt } });
      } catch (error) {
        // What the schema made of the input cannot be sent.
        resolve({ isUsable: true, error: error as Error });
      }
      if (run.signal.aborted) abort();
      else run.signal.addEventListener('abort', abort, { once: true });
    });
  } finally {
    clearTimeout(timer);
    run.signal.removeEventListener('abort', abort);
  }
}

/** What the thread asks for is done by the run's own context. */
function answersOf(
  worker: Worker,
  { run, definitions }: Work,
  broken: (error: Error) => void,
): (message: Exclude<FromThread, { type: 'ended' }>) => void {
  const works = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  const answer = (id: number, promise: Promise<unknown>): void => {
    promise.then(
      (value) => worker.postMessage({ type: 'answer', id, value }),
      (error: unknown) => worker.postMessage({ type: 'answer', id, error: passed(error) }),
    );
  };
  const inThreadWork = (id: number): Promise<unknown> =>
    new Promise((resolve, reject) => {
      works.set(id, { resolve, reject });
      worker.postMessage({ type: 'work', id });
    });
  return (message) => {
    switch (message.type) {
      case 'log':
        return run.log[message.level](message.text);
      case 'heartbeat':
        return run.heartbeat();
      case 'progress':
        return reported(() => run.progress(message.value), broken);
      case 'step':
        return answer(
          message.id,
          run.step(message.name, () => inThreadWork(message.id)),
        );
      case 'worked': {
        const work = works.get(message.id);
        works.delete(message.id);
        return message.error === undefined ? work?.resolve(message.value) : work?.reject(restored(message.error));
      }
      case 'call': {
        const called = definitions.find(({ name }) => name === message.fn) ?? { name: message.fn };
        return answer(message.id, run.call(message.name, called as FunctionDefinition<unknown>, message.input));
      }
    }
  };
}

/** A progress that is refused fails the attempt, as it does outside of a thread, only later. */
function reported(report: () => void, refused: (error: Error) => void): void {
  try {
    report();
  } catch (error) {
    refused(error as Error);
  }
}

function passed(error: unknown): PassedError {
  const { name, message, stack, code } = error as Error & { readonly code?: unknown };
  return {
    ...{ name, message, stack: stack ?? '' },
    ...(typeof code === 'string' ? { code } : {}),
    ...(error instanceof RunFailedError
      ? { failure: { runId: error.runId, outcome: error.outcome, error: error.error } }
      : {}),
  };
}

/** The errors that decide what follows keep their meaning. */
function restored(passedOn: PassedError): Error {
  const { stack, code } = passedOn;
  const error = Object.assign(restoredKind(passedOn), { stack });
  return code === undefined ? error : Object.assign(error, { code });
}

function restoredKind({ name, message, wait, failure }: PassedError): Error {
  if (name === 'NonRetryableError') return new NonRetryableError(message);
  if (name === 'RetryAfterError' && wait !== undefined) return new RetryAfterError(message, wait);
  if (name === 'Snooze' && wait !== undefined) return new Snooze(wait);
  if (failure !== undefined) return new RunFailedError(failure.runId, failure.outcome, failure.error);
  return Object.assign(new Error(message), { name });
}
