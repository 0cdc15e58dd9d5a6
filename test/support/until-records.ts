import type { Engine } from '../../src/index.js';
import type { Table } from '../../src/shared/table.js';
import { patience } from './patience.js';

/** The records of a table as soon as they are as asked; woken by changes. */
export async function untilRecords<R>(
  { storage }: Pick<Engine, 'storage'>,
  table: Table<R>,
  areReady: (records: R[]) => boolean,
): Promise<R[]> {
  const limit = AbortSignal.timeout(patience);
  for (;;) {
    const { index, records } = (
      await storage.read((view) => ({ index: view.index, records: view.list(table).map(({ record }) => record) }))
    )._unsafeUnwrap();
    if (areReady(records)) return records;
    if (limit.aborted) throw new Error(`${table.name} never came to the expected state: ${JSON.stringify(records)}`);
    await storage.waitForChange([table], index, limit);
  }
}

/** The first record of a table that is as asked. */
export async function untilRecord<R>(
  engine: Pick<Engine, 'storage'>,
  table: Table<R>,
  isReady: (record: R) => boolean,
): Promise<R> {
  const found = (await untilRecords(engine, table, (records) => records.some(isReady))).find(isReady);
  if (found === undefined) throw new Error(`No record of ${table.name} is as asked`);
  return found;
}
