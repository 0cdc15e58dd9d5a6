import fc from 'fast-check';
import { expect, test } from 'vitest';
import { memoryStorage, rerunning } from '../../../adapters/memory/index.js';
import { sqliteStorage } from '../../../adapters/sqlite/index.js';
import type { KeyPart } from '../../../src/shared/table.js';
import { encodeKey, unitOrdered } from '../../../src/storage/records.js';
import { compareKeys, type StorageModel } from '../../conformance/storage/storage-model.js';
import { type Thing, valueFrom } from '../../conformance/storage/storage-subject.js';
import { compare, modelled, noThings, part, play, program } from '../../support/storage-programs.js';

const wildPart: fc.Arbitrary<KeyPart> = fc.oneof(
  part,
  fc.string({ unit: 'binary', maxLength: 6 }),
  fc.string({ unit: fc.integer({ min: 0xd7f0, max: 0xe010 }).map((code) => String.fromCharCode(code)), maxLength: 4 }),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
);
test('a random program gives the same answers on memory, on SQLite and on the model', async () => {
  await fc.assert(
    fc.asyncProperty(program, async (rounds) => {
      const stores = [memoryStorage(), rerunning(memoryStorage(), 2), valueFrom(await sqliteStorage(':memory:'))];
      let model = noThings;
      for (const round of rounds) {
        const next = modelled(model, round.write);
        for (const storage of stores) await play(storage, round.write, model, next);
        model = next;
        for (const storage of stores) for (const asked of round.queries) await compare(storage, asked, model);
      }
      for (const storage of stores) await storage.close();
    }),
    { numRuns: 250 },
  );
});

test('writes that wait together come one after the other, as if each had waited for the one before', async () => {
  await fc.assert(
    fc.asyncProperty(program, async (rounds) => {
      const stores = [memoryStorage(), valueFrom(await sqliteStorage(':memory:'))];
      const models = [noThings];
      for (const round of rounds) models.push(modelled(models.at(-1) as StorageModel<Thing>, round.write));
      for (const storage of stores) {
        await Promise.all(
          rounds.map((round, at) =>
            play(storage, round.write, models[at] as StorageModel<Thing>, models[at + 1] as StorageModel<Thing>),
          ),
        );
        const last = models.at(-1) as StorageModel<Thing>;
        for (const round of rounds) for (const asked of round.queries) await compare(storage, asked, last);
        await storage.close();
      }
    }),
    { numRuns: 100 },
  );
});

test('the text of keys orders as the keys do, and so do its UTF-8 bytes', () => {
  const wildKey = fc.array(wildPart, { maxLength: 3 });
  fc.assert(
    fc.property(wildKey, wildKey, (a, b) => {
      const [left, right] = [encodeKey(a) as string, encodeKey(b) as string];
      const order = Math.sign(compareKeys(a, b));
      expect(Math.sign(Buffer.compare(Buffer.from(left), Buffer.from(right)))).toBe(order);
      const [leftUnits, rightUnits] = [unitOrdered(left), unitOrdered(right)];
      expect(leftUnits < rightUnits ? -1 : leftUnits > rightUnits ? 1 : 0).toBe(order);
      expect(Buffer.from(left).toString()).toBe(left);
    }),
    { numRuns: 5000 },
  );
});
