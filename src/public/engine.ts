/** The engine, its settings and events, and the clients. For services that embed the engine. */

export { err, errAsync, ok, okAsync, Result, ResultAsync } from 'neverthrow';
export type { CallInput, Indexed, PageOf } from '../api/answers.js';
export type { CallError, ErrorTag, JobCallError, NotificationCallError } from '../api/errors.js';
export type { MessageSocket, SocketEnd } from '../api/message-socket.js';
export type { CallName } from '../bound-calls.js';
export type { CallOptions, Client, WaitingOptions } from '../client/client.js';
export type {
  Aborted,
  BadRequest,
  ClientError,
  Refused,
  TimedOut,
  UnexpectedAnswer,
  Unreachable,
} from '../client/client-error.js';
export { orThrow, SignalboxError } from '../client/or-throw.js';
export { createEngine, type Engine, type EnginePorts, type StopOptions } from '../engine.js';
export type { InvalidTopic } from '../events/subscription.js';
export type { Host } from '../host.js';
export type { RunNotificationRule } from '../notifications/run-notification-rule.js';
export { type HostTransaction, NotCommittedError, type OpenTransaction } from '../operations/context/shared-write.js';
export type { EngineEmitter, EngineEvents } from '../operations/events.js';
export type { CallManner } from '../operations/operation.js';
export { type ExportSink, exportStore } from '../operations/store/export/export-store.js';
export type { InvalidExport } from '../operations/store/export/read-store-export.js';
export { readStoreExport } from '../operations/store/export/read-store-export.js';
export type { StoredSecretsCheck } from '../operations/store/secrets/check-stored-secrets.js';
export type { DurationSetting, EngineSetting, ValuesOf } from '../options/setting-kinds.js';
export { defaultSettings, engineSettings, type Settings, type SettingsOverrides, settingsFrom } from '../settings.js';
export type { RecordContents, StoreContents, TableContents } from '../storage/store-contents.js';
export type { EngineTransaction, TransactionClient, TransactionOutcome } from '../transaction.js';
