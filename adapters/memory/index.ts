export { type FailingCalls, type FailurePlan, type Flaky, flaky, type MethodFailure, sometimes } from './flaky.js';
export { type ManualClock, manualClock } from './manual-clock.js';
export { type MemoryStorageOptions, memoryStorage } from './memory-storage.js';
export {
  type AnswerScript,
  type RecordedRequest,
  type RecordingDelivery,
  type RecordingDeliveryOptions,
  type RecordingMailer,
  type RecordingMailerOptions,
  recordingDelivery,
  recordingMailer,
  type ScriptedAnswer,
} from './recording-delivery.js';
export { rerunning } from './rerunning.js';
export { type SequentialIdsOptions, sequentialIds } from './sequential-ids.js';
