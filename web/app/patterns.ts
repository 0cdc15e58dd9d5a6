import workerUrl from './pattern-worker.ts?worker&url';

/** The longest time for one search with a pattern, in milliseconds. */
const longest = 200;

export type Matches = { readonly found: readonly number[] } | { readonly failure: string };

interface ScriptUrlPolicy {
  createScriptURL(url: string): unknown;
}

const { trustedTypes } = globalThis as {
  trustedTypes?: { createPolicy(name: string, rules: { createScriptURL: (url: string) => string }): ScriptUrlPolicy };
};

/** The only policy of the page: it accepts the address of its worker and nothing else. */
const policy = trustedTypes?.createPolicy('signalbox', {
  createScriptURL: (url) => {
    if (url !== workerUrl) throw new TypeError('not a script of this page');
    return url;
  },
});

function newWorker(): Worker {
  return new Worker((policy?.createScriptURL(workerUrl) ?? workerUrl) as string, { type: 'module' });
}

let worker: Worker | undefined;

let before: Promise<unknown> = Promise.resolve();

/** The numbers of the lines that a pattern matches. A pattern that takes too long is ended. One search at a time: each gets its own answer. */
export function linesMatching(pattern: string, lines: readonly string[]): Promise<Matches> {
  const found = before.then(() => search(pattern, lines));
  before = found;
  return found;
}

async function search(pattern: string, lines: readonly string[]): Promise<Matches> {
  if (worker === undefined) {
    worker = newWorker();
    // Loading the script does not count as searching.
    await answerOf(worker, { pattern: 'x', lines: [] }, 10_000);
  }
  const answer = await answerOf(worker, { pattern, lines }, longest + lines.length / 500);
  if (answer !== undefined) return answer;
  worker.terminate();
  worker = undefined;
  return { failure: 'The pattern takes too long.' };
}

function answerOf(
  of: Worker,
  question: { readonly pattern: string; readonly lines: readonly string[] },
  time: number,
): Promise<Matches | undefined> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(undefined), time);
    of.addEventListener(
      'message',
      ({ data }: MessageEvent<Matches>) => {
        clearTimeout(timer);
        resolve(data);
      },
      { once: true },
    );
    of.postMessage(question);
  });
}
