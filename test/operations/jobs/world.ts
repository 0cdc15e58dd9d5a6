import { manualClock, memoryStorage, recordingDelivery, sequentialIds } from '../../../adapters/memory/index.js';
import { createEngine, type Engine, type EnginePorts } from '../../../src/engine.js';
import type { SettingsOverrides } from '../../../src/settings.js';
import type { Table } from '../../../src/shared/table.js';

export interface World {
  readonly engine: Engine;
  readonly clock: ReturnType<typeof manualClock>;
  /** All records of a table. */
  rows<R>(table: Table<R>): Promise<R[]>;
}

/** An engine that does not run: operations work, and nothing happens behind them. */
export function world(
  settings: SettingsOverrides = {},
  ports: Pick<EnginePorts, 'policies' | 'logger' | 'secrets'> = {},
): World {
  const clock = manualClock();
  const engine = createEngine(
    { storage: memoryStorage(), clock, ids: sequentialIds(), delivery: recordingDelivery({ clock }), ...ports },
    settings,
  );
  return {
    engine,
    clock,
    rows: async (table) =>
      (await engine.storage.read((view) => view.list(table).map((row) => row.record)))._unsafeUnwrap(),
  };
}

export function serviceJob(id: string, more: object = {}): object {
  return { ID: id, Type: 'service', TaskGroups: [group()], ...more };
}

export function batchJob(id: string, more: object = {}): object {
  return { ID: id, Type: 'batch', TaskGroups: [group()], ...more };
}

export function parameterizedJob(id: string, block: object = {}, more: object = {}): object {
  return batchJob(id, { ParameterizedJob: { Payload: 'optional', ...block }, ...more });
}

export function group(more: object = {}): object {
  return { Name: 'g', Count: 1, Tasks: [{ Name: 't', Driver: 'raw_exec', Config: { command: '/bin/true' } }], ...more };
}
