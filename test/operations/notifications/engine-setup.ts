import { errAsync, type Result } from 'neverthrow';
import { type ManualClock, manualClock } from '../../../adapters/memory/manual-clock.js';
import { memoryStorage } from '../../../adapters/memory/memory-storage.js';
import {
  type RecordingDelivery,
  type RecordingDeliveryOptions,
  type RecordingMailer,
  type RecordingMailerOptions,
  recordingDelivery,
  recordingMailer,
} from '../../../adapters/memory/recording-delivery.js';
import { sequentialIds } from '../../../adapters/memory/sequential-ids.js';
import { hostPrincipal, type Principal } from '../../../src/access/principal.js';
import { createEngine, type Engine, type EnginePorts } from '../../../src/engine.js';
import type { UncheckedConfigurationInput } from '../../../src/notifications/configurations/configuration-input.js';
import type { RunEvent } from '../../../src/notifications/events/event.js';
import { createNotificationConfiguration } from '../../../src/operations/notifications/configurations/create-notification-configuration.js';
import { sendNotificationEvent } from '../../../src/operations/notifications/events/send-notification-event.js';
import {
  putUser,
  putWorkspace,
  type WorkspaceInput,
} from '../../../src/operations/notifications/workspaces/workspaces-and-users.js';

import type { Storage } from '../../../src/ports/storage.js';
import type { SettingsOverrides } from '../../../src/settings.js';

export interface TestEngine extends Engine {
  readonly clock: ManualClock;
  readonly delivery: RecordingDelivery;
  readonly mailer: RecordingMailer;
}

export const workspaceId = 'ws-1';
export const owner: Principal = {
  ...hostPrincipal,
  management: false,
  accessor: 'dana',
  workspaces: { [workspaceId]: 'admin' },
};
export const stranger: Principal = { ...hostPrincipal, management: false, accessor: 'eve' };

export const workspaceInput: WorkspaceInput = {
  id: workspaceId,
  name: 'net',
  organization: 'acme',
  driftDetection: true,
  healthAssessments: true,
};

/** An engine on memory with a manual clock, one workspace and two users; not started. */
export async function testEngine(
  settings: SettingsOverrides = {},
  options: Omit<RecordingDeliveryOptions, 'clock'> & {
    readonly ports?: Partial<EnginePorts>;
    readonly mail?: RecordingMailerOptions;
  } = {},
): Promise<TestEngine> {
  const clock = manualClock();
  const { ports: given, mail, ...answers } = options;
  const delivery = recordingDelivery({ ...answers, clock });
  const mailer = recordingMailer(mail ?? {});
  const ports = { storage: memoryStorage(), clock, ids: sequentialIds(), delivery, mailer, ...given };
  const engine = createEngine(ports, settings);
  await must(putWorkspace(engine, hostPrincipal, workspaceInput));
  for (const id of ['user-1', 'user-2']) {
    const email = `${id}@example.org`;
    await must(putUser(engine, hostPrincipal, { id, username: id, email, organization: 'acme' }));
  }
  return { ...engine, clock, delivery, mailer };
}

export async function must<T, E>(result: PromiseLike<Result<T, E>>): Promise<T> {
  const settled = await result;
  if (settled.isErr()) throw new Error(JSON.stringify(settled.error));
  return settled.value;
}

export async function mustFail<T, E>(result: PromiseLike<Result<T, E>>): Promise<E> {
  return (await result)._unsafeUnwrapErr();
}

export const destination = 'https://hooks.example.net/tf';

export function create(engine: Engine, attributes: UncheckedConfigurationInput = {}) {
  return createNotificationConfiguration(engine, owner, {
    workspaceId,
    attributes: {
      destinationType: 'generic',
      name: 'Deploy hook',
      url: destination,
      token: 's3cr3t-token',
      enabled: true,
      triggers: ['run:created', 'run:completed', 'run:errored'],
      ...attributes,
    },
  });
}

export function runEvent(overrides: Partial<RunEvent> = {}): RunEvent {
  return {
    kind: 'run',
    trigger: 'run:errored',
    message: 'Run Errored',
    runId: 'run-4bVxWqT9hLs2KdRm',
    runUrl: 'https://tf.example.net/app/acme/workspaces/net/runs/run-4bVxWqT9hLs2KdRm',
    runMessage: 'Widen the subnet',
    runCreatedAt: '2026-01-02T03:04:05.000Z',
    runCreatedBy: 'dana',
    runStatus: 'errored',
    runUpdatedAt: '2026-01-02T03:04:31.000Z',
    runUpdatedBy: null,
    speculative: false,
    ...overrides,
  };
}

export function publish(engine: Engine, overrides: Partial<RunEvent> = {}, idempotencyKey?: string) {
  return must(
    sendNotificationEvent(engine, owner, {
      workspaceId,
      event: runEvent(overrides),
      ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
    }),
  );
}

/** Level and message of what is logged from info on. */
export function recordingLogger() {
  const lines: string[] = [];
  const note = (level: string) => (_fields: unknown, message: string) => void lines.push(`${level} ${message}`);
  return { lines, logger: { debug: () => undefined, info: note('info'), warn: note('warn'), error: note('error') } };
}

/** The storage as a process sees it that is killed after some writes; the next one fails, and everything after it. */
export class MortalStorage implements Storage {
  writesLeft = Number.POSITIVE_INFINITY;
  readonly waitForChange: Storage['waitForChange'];
  readonly close: Storage['close'];
  readonly #inner: Storage;

  constructor(inner: Storage) {
    this.#inner = inner;
    this.waitForChange = (...about) => inner.waitForChange(...about);
    this.close = () => inner.close();
  }

  read: Storage['read'] = (work) => (this.writesLeft < 0 ? killed() : this.#inner.read(work));

  write: Storage['write'] = (work) => {
    this.writesLeft -= 1;
    return this.writesLeft < 0 ? killed() : this.#inner.write(work);
  };
}

const killed = () => errAsync({ type: 'storage_failed', reason: 'closed', message: 'killed' } as const);
