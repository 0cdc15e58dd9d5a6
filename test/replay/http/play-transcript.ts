import http from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { converse } from '../websocket/converse.js';
import { documentOf } from './document.js';
import { exchange } from './exchange.js';
import { type Answered, isRecord, type Reply, type Step, type Transcript, type Until, valuesAt } from './transcript.js';

const askAgainMs = 50;
const waitAtMostMs = 15_000;
/** So that a request that is left waiting has arrived before the next one is sent. */
const headStartMs = 100;

export interface Played {
  /** In every name that the transcript makes. */
  readonly run: string;
  readonly replies: readonly (Reply | undefined)[];
}

export interface PlayOptions {
  /** Waiting takes so many times what the recording allows; 1 when absent. */
  readonly patience?: number;
  /** Values that the transcript uses and does not save itself, by name. */
  readonly variables?: Readonly<Record<string, string>>;
}

/** Plays the steps against a server, one after the other. */
export async function playTranscript(
  origin: string,
  { steps }: Transcript,
  { patience = 1, variables = {} }: PlayOptions = {},
): Promise<Played> {
  const run = `t${Math.random().toString(36).slice(2, 8).padEnd(6, '0')}`;
  const player = new Player(origin, patience, { ...variables, run });
  const replies: (Reply | undefined)[] = [];
  for (const step of steps) replies.push(await player.play(step));
  player.close();
  return { run, replies };
}

class Player {
  readonly #origin: string;
  readonly #patience: number;
  readonly #agent = new http.Agent({ keepAlive: true });
  readonly #variables: Map<string, unknown>;
  readonly #waiting = new Map<string, Promise<Answered>>();

  constructor(origin: string, patience: number, variables: Readonly<Record<string, string>>) {
    this.#origin = origin;
    this.#patience = patience;
    this.#variables = new Map(Object.entries(variables));
  }

  close(): void {
    this.#agent.destroy();
  }

  async play(step: Step): Promise<Reply | undefined> {
    if (step.answerOf !== undefined) return this.#waiting.get(step.answerOf);
    const missing = new Set<string>();
    const request = filled(step, this.#variables, missing) as Step;
    if (missing.size > 0) return { skipped: `no value for ${[...missing].join(', ')}` };
    if (step.background !== undefined) {
      const said = new Promise<void>((resolve) => {
        const answer = this.#send(request, resolve);
        this.#waiting.set(step.background ?? '', answer);
        void answer.then(() => resolve());
      });
      await pause(headStartMs);
      // A command that is under way before the next step was so in the recording.
      if (request.talk !== undefined) await said;
      return undefined;
    }
    const answered = await this.#ask(request);
    for (const [name, source] of Object.entries(step.save ?? {})) {
      const value = valueFrom(answered, request, source);
      if (value !== undefined) this.#variables.set(name, value);
    }
    return answered;
  }

  #send(request: Step, onSaid?: () => void): Promise<Answered> {
    const { talk } = request;
    return talk === undefined ? exchange(this.#origin, request, this.#agent) : converse(this.#origin, request, onSaid);
  }

  async #ask(request: Step): Promise<Answered> {
    const { until } = request;
    const deadline = performance.now() + (until?.timeoutMs ?? waitAtMostMs) * this.#patience;
    for (;;) {
      const answered = await this.#send(request);
      if (until === undefined || holds(until, answered, request)) return answered;
      if (performance.now() > deadline) return { ...answered, notReached: true };
      await pause(askAgainMs);
    }
  }
}

function holds(until: Until, answered: Answered, request: Step): boolean {
  if (until.status !== undefined) return answered.status === until.status;
  if (answered.status !== 200) return false;
  const expected = until.in ?? [until.equals];
  const values = valuesAt(documentOf(answered, request).document, until.pointer ?? '');
  const enough = until.count === undefined ? values.length > 0 || until.orNone === true : values.length === until.count;
  return enough && values.every((value) => expected.includes(value));
}

function valueFrom(answered: Answered, request: Step, source: string): unknown {
  if (source.startsWith('header:')) return answered.headers[source.slice('header:'.length).toLowerCase()];
  return valuesAt(documentOf(answered, request).document, source)[0];
}

const variable = /\{\{(\w+)([+-]\d+|:\d+)?\}\}/g;

/**
 * Puts in the variables: a text that is nothing else takes the value with its type, `{{index+1}}` adds, `{{id:8}}` takes the first letters.
 * `{ $repeat, times }` is a text that is repeated. Names without a value are added to `missing`.
 */
function filled(value: unknown, variables: ReadonlyMap<string, unknown>, missing: Set<string>): unknown {
  const wanted = (name: string, change = ''): unknown => {
    const found = variables.get(name);
    if (found === undefined) missing.add(name);
    if (change.startsWith(':')) return String(found).slice(0, Number(change.slice(1)));
    return change === '' ? found : Number(found) + Number(change);
  };
  if (typeof value === 'string') {
    const [first] = value.matchAll(variable);
    if (first !== undefined && first[0] === value) return wanted(first[1] as string, first[2]);
    return value.replace(variable, (_, name: string, change?: string) => String(wanted(name, change)));
  }
  if (Array.isArray(value)) return value.map((one) => filled(one, variables, missing));
  if (!isRecord(value)) return value;
  if (typeof value['$repeat'] === 'string') return value['$repeat'].repeat(Number(value['times']));
  const entries = Object.entries(value).filter(([key]) => key !== 'answer');
  return Object.fromEntries(
    entries.map(([key, one]) => [String(filled(key, variables, missing)), filled(one, variables, missing)]),
  );
}
