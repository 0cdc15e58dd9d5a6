import { readFileSync } from 'node:fs';
import {
  agentPorts,
  createEngine,
  type Engine,
  readStoreExport,
  type SettingsOverrides,
  type StoreContents,
} from '../../src/index.js';
import { checkArgument, checkOptions, type OptionTable } from '../../src/options/check-options.js';
import { isDuration, milliseconds } from '../../src/options/durations.js';
import {
  anything,
  callable,
  either,
  instant,
  mapOf,
  optional,
  text,
  wholeFrom,
} from '../../src/options/option-kinds.js';
import type { Allocation } from '../../src/scheduler/index.js';
import { createFunctions, type Duration, type Functions } from '../functions/index.js';
import {
  type AnswerScript,
  type ManualClock,
  manualClock,
  memoryStorage,
  type RecordingDelivery,
  type RecordingMailer,
  recordingDelivery,
  recordingMailer,
  sequentialIds,
} from '../memory/index.js';
import { createRunner, functionDriver, type Runner, type TaskFunction } from '../runner/index.js';
import { type Behaviour, type SimulatedAgents, simulatedAgents } from './simulated-agents.js';
import { simulatedNodes } from './simulated-nodes.js';

/** Options of a test engine. */
export interface TestEngineOptions {
  readonly settings?: SettingsOverrides;
  /**
   * Functions of the service, as `defineFunction` makes them: they run, and no node does. Or functions that tasks of the driver
   * `function` may name, which run on the node.
   */
  readonly functions?: readonly { readonly name: string }[] | Readonly<Record<string, TaskFunction>>;
  /** The answers of receivers; default: 204. Change them later with `delivery.answer`. */
  readonly answer?: AnswerScript;
  /** Start of the clock, in milliseconds since 1970; default: the time of the export, else 2026-01-01T00:00:00Z. */
  readonly start?: number;
  /**
   * Path of a file written by `signalbox export` or `exportStore`: the engine starts with the content of that store. Nodes that were
   * ready then have simulated agents. The runner, with its additional node, runs only if there are `functions`. Pass settings of
   * the server that differ from the defaults as `settings`.
   */
  readonly from?: string | URL;
  /** So many further nodes with simulated agents, which take tasks of every driver; 0 to 100. */
  readonly nodes?: number;
  /** The behaviour of tasks on nodes with simulated agents; default: they keep running. */
  readonly behaviour?: (allocation: Allocation) => Behaviour;
}

const optionTable: OptionTable<TestEngineOptions> = {
  settings: optional(anything),
  functions: optional({
    takes: 'a list of definitions, or an object with functions',
    fits: (value) => Array.isArray(value) || mapOf(callable).fits(value),
    faultWithin: (value, path) => (Array.isArray(value) ? undefined : mapOf(callable).faultWithin?.(value, path)),
  }),
  answer: optional(anything),
  start: optional(instant),
  from: optional(either(text, { takes: 'a URL', fits: (value) => value instanceof URL })),
  nodes: optional(wholeFrom(0, 100)),
  behaviour: optional(callable),
};

/** A complete installation in one process on one simulated clock. It uses no disk, no network and no real time. */
export interface TestEngine extends AsyncDisposable {
  /** The started engine, on memory storage. */
  readonly engine: Engine;
  /** The clock of the installation; it moves only when it is advanced. */
  readonly clock: ManualClock;
  /** Records all requests to destinations in `requests` and answers by a script. */
  readonly delivery: RecordingDelivery;
  /** Records all mail in `messages`. */
  readonly mailer: RecordingMailer;
  /** The functions of the service, started; without any when `functions` is no list. */
  readonly functions: Functions;
  /** The node of the installation; it runs tasks of the driver `function`. */
  readonly runner: Runner;
  /** The agents of the nodes of `from` and `nodes`. */
  readonly agents: SimulatedAgents;
  /**
   * Advances the clock, by milliseconds or a string such as `90s`, `7d` or `1y`; runs, retries, deadlines and waits within happen
   * in order.
   */
  advance(duration: Duration): Promise<void>;
  /** Waits until everything that is due has been done, without moving time: the same as `settle`. */
  idle(): Promise<void>;
  /** Waits until work in progress is idle, without moving time. */
  settle(): Promise<void>;
  /** Ends the runner and the engine. */
  stop(): Promise<void>;
}

/**
 * A started engine on memory storage with a manual clock, sequential ids, recording receivers and an in-memory runner. Throws when `from`
 * is incomplete or has another format version.
 */
export async function testEngine(options: TestEngineOptions = {}): Promise<TestEngine> {
  checkOptions('testEngine', options, optionTable);
  const contents = options.from === undefined ? undefined : contentsOf(options.from);
  const clock = manualClock(options.start ?? contents?.at);
  const delivery = recordingDelivery({ clock, ...(options.answer === undefined ? {} : { answer: options.answer }) });
  const mailer = recordingMailer();
  const storage = memoryStorage(contents === undefined ? {} : { contents });
  // IDs continue after the index of the export, so that they do not collide with sequential IDs of that store.
  const ids = sequentialIds({ after: contents?.index ?? 0 });
  const engine = createEngine({ storage, clock, ids, delivery, mailer }, options.settings);
  const functions = createFunctions(engine, definitionsIn(options));
  const runner = runnerOf(engine, options);
  const over = new AbortController();
  engine.start();
  await begin(options, functions, runner);
  const cast = { nodes: simulatedNodes(contents, options.nodes ?? 0), behaviour: options.behaviour ?? (() => ({})) };
  const agents = simulatedAgents(engine, clock, cast, over.signal);
  const stop = async (): Promise<void> => {
    over.abort();
    await functions.stop({ deadline: 0 });
    await agents.ended;
    await runner.stop({ deadline: 1000 });
    await engine.stop({ deadline: 1000 });
    await storage.close();
  };
  return {
    engine,
    clock,
    delivery,
    mailer,
    runner,
    agents,
    functions,
    advance: async (duration) => {
      checkArgument('advance', 'duration', duration, durationKind);
      await clock.advance(milliseconds(duration));
    },
    idle: () => clock.settle(),
    settle: () => clock.settle(),
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

/** Starts what runs in the installation: the functions of the service, or the node. */
async function begin(options: TestEngineOptions, functions: Functions, runner: Runner): Promise<void> {
  if (definitionsIn(options).length > 0) await functions.start();
  else if ((options.from ?? options.nodes) === undefined || options.functions !== undefined) await started(runner);
}

/** The functions of the service. */
function definitionsIn({ functions }: TestEngineOptions): readonly { readonly name: string }[] {
  return Array.isArray(functions) ? (functions as readonly { readonly name: string }[]) : [];
}

function contentsOf(from: string | URL): StoreContents {
  return readStoreExport(readFileSync(from, 'utf8')).match(
    (contents) => contents,
    ({ line, message }) => {
      throw new Error(`${String(from)}, line ${line}: ${message}`);
    },
  );
}

const durationKind = { takes: 'milliseconds or a string such as 30s, 7d or 1y', fits: isDuration };

function runnerOf(engine: Engine, { functions: given = {} }: TestEngineOptions): Runner {
  const functions = Array.isArray(given) ? {} : (given as Readonly<Record<string, TaskFunction>>);
  const node = { name: 'test-node', cpu: 1_000_000, memory: 1_000_000 };
  return createRunner(agentPorts(engine, { heartbeats: false }), { ...node, drivers: [functionDriver(functions)] });
}

async function started(runner: Runner): Promise<void> {
  (await runner.start()).match(
    () => undefined,
    (fault) => {
      throw new Error(fault.message);
    },
  );
}
