import fc from 'fast-check';
import { ok } from 'neverthrow';
import { describe, expect, it } from 'vitest';
import { memoryStorage } from '../../../adapters/memory/index.js';
import { table } from '../../../src/shared/table.js';

interface Instance {
  readonly id: string;
  readonly [member: string]: unknown;
}

const instances = table<Instance>('instances', ({ id }) => [id], {}, { shares: () => 'groups' });

/** The texts of the records as they are stored. */
async function storedTexts(records: readonly Instance[]): Promise<readonly string[]> {
  const storage = memoryStorage();
  const written = await storage.write((tx) => {
    for (const record of records) tx.put(instances, record);
    return ok(undefined);
  });
  written._unsafeUnwrap();
  const rows = await storage.read((view) => records.map(({ id }) => view.get(instances, [id])?.text ?? ''));
  return rows._unsafeUnwrap();
}

describe('records that share a member have the texts that they would have without sharing it', () => {
  const groups = [{ name: 'a "groups":null b', count: 1, nothing: undefined }];
  it.each<readonly [string, Instance]>([
    ['in the middle', { id: 'one', groups, last: 1 }],
    ['as the last one', { id: 'two', first: 'x', groups }],
    ['beside members that look like it', { id: 'three', text: '"groups":null', before: { groups: null }, groups }],
    ['when a later one looks like it', { id: 'four', groups, after: [{ groups: null }] }],
    ['that is a map', { id: 'five', groups: { a: [groups] } }],
    ['that is null', { id: 'six', groups: null }],
    ['that is a text', { id: 'seven', groups: 'a' }],
    ['that is left out', { id: 'eight', groups: undefined, last: 1 }],
    ['that is not there', { id: 'nine' }],
  ])('%s', async (_where, record) => {
    const again = { ...record, id: 'other' };
    expect(await storedTexts([record, again])).toEqual([JSON.stringify(record), JSON.stringify(again)]);
  });

  it('whatever the other members are', async () => {
    const member = fc.dictionary(fc.constantFrom('a', 'b', 'groups', '__proto__', '"groups":null'), fc.jsonValue());
    await fc.assert(
      fc.asyncProperty(fc.array(member, { minLength: 1, maxLength: 5 }), fc.jsonValue(), async (others, value) => {
        const records = others.map((other, at) => ({
          ...other,
          id: `r${at}`,
          ...(at % 3 === 2 ? {} : { groups: value }),
        }));
        expect(await storedTexts(records)).toEqual(records.map((record) => JSON.stringify(record)));
      }),
    );
  });
});
