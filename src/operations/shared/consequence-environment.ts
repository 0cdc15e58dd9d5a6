import type { Ids } from '../../ports/ids.js';
import type { Settings } from '../../settings.js';
import type { Instant } from '../../shared/instant.js';

/** What the consequences of a write are decided with. */
export interface ConsequenceEnvironment {
  readonly now: Instant;
  readonly ids: Ids;
  readonly settings: Settings;
  /** The name of the person behind the write; absent when the system itself acts. */
  readonly actor?: string;
}
