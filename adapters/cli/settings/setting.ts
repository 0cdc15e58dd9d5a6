import { isRecord } from '../../../src/shared/values.js';
import type { Kind } from './kind.js';

/** One setting of `signalbox serve`. */
export interface Setting {
  /** Its path in the settings file, with dots: `notifications.delivery.rate.generic`. */
  readonly key: string;
  readonly kind: Kind;
  /** Absent: nothing is set. */
  readonly default?: unknown;
  /** One line, without a full stop. */
  readonly summary: string;
  /** Its flag, without dashes; other settings are given as `--set KEY=VALUE`. */
  readonly flag?: string;
  /** The value is never printed; `password`: its password is not, and command lines may not contain one. */
  readonly secret?: true | 'password';
  /** Part of the engine's settings, under the same key. */
  readonly ofEngine?: true;
}

/** The environment variable of a setting: `SIGNALBOX_ALLOW_HOSTS`. */
export function variableOf(key: string): string {
  const words = key.replaceAll('.', '_').replace(/[A-Z]/g, (capital) => `_${capital}`);
  return `SIGNALBOX_${words.toUpperCase()}`;
}

/** The value at a dotted key; undefined if absent. */
export function atPath(record: unknown, key: string): unknown {
  return key
    .split('.')
    .reduce((within, name) => (isRecord(within) && Object.hasOwn(within, name) ? within[name] : undefined), record);
}
