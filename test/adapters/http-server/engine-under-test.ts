import { manualClock, memoryStorage, recordingDelivery, sequentialIds } from '../../../adapters/memory/index.js';
import { createEngine, type Engine, type SettingsOverrides } from '../../../src/index.js';

/** An engine on memory storage, not started: nothing moves unless a request moves it. */
export function engineUnderTest(settings: SettingsOverrides = {}): Engine {
  return createEngine(
    {
      storage: memoryStorage(),
      clock: manualClock(),
      ids: sequentialIds(),
      delivery: recordingDelivery(),
    },
    settings,
  );
}
