import { agentPorts, createEngine, type Engine, type SettingsOverrides } from '../../src/index.js';
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

/** What a test engine differs in from one with the defaults. */
export interface TestEngineOptions {
  readonly settings?: SettingsOverrides;
  /** Functions that tasks of the driver `function` may name. */
  readonly functions?: Readonly<Record<string, TaskFunction>>;
  /** The answers of receivers; 204 when absent. Change it later with `delivery.answer`. */
  readonly answer?: AnswerScript;
  /** Where the clock starts, in milliseconds since 1970; 2026-01-01T00:00:00Z when absent. */
  readonly start?: number;
}

/** A complete installation in one process on one simulated clock. It uses no disk, no network and not the clock of the host. */
export interface TestEngine extends AsyncDisposable {
  readonly engine: Engine;
  readonly clock: ManualClock;
  readonly delivery: RecordingDelivery;
  readonly mailer: RecordingMailer;
  readonly runner: Runner;
  /** Advances the clock by the given milliseconds; runs, retries, deadlines and waits within them happen in order. */
  advance(milliseconds: number): Promise<void>;
  /** Waits until work in progress is idle, without moving time. */
  settle(): Promise<void>;
  stop(): Promise<void>;
}

/** A started engine on memory storage with a manual clock, sequential ids, recording receivers and an in-memory runner. */
export async function testEngine(options: TestEngineOptions = {}): Promise<TestEngine> {
  const clock = manualClock(options.start);
  const answer = options.answer === undefined ? {} : { answer: options.answer };
  const delivery = recordingDelivery({ clock, ...answer });
  const mailer = recordingMailer();
  const ports = { storage: memoryStorage(), clock, ids: sequentialIds(), delivery, mailer };
  const engine = createEngine(ports, options.settings);
  const runner = createRunner(agentPorts(engine), {
    name: 'test-node',
    cpu: 1_000_000,
    memory: 1_000_000,
    drivers: [functionDriver(options.functions ?? {})],
  });
  engine.start();
  (await runner.start()).match(
    () => undefined,
    (fault) => {
      throw new Error(fault.message);
    },
  );
  const stop = async (): Promise<void> => {
    await runner.stop({ deadline: 1000 });
    await engine.stop({ deadline: 1000 });
    await ports.storage.close();
  };
  return {
    engine,
    clock,
    delivery,
    mailer,
    runner,
    advance: (milliseconds) => clock.advance(milliseconds),
    settle: () => clock.settle(),
    stop,
    [Symbol.asyncDispose]: stop,
  };
}
