import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { inject, test } from 'vitest';
import { postgresStorage } from '../../../adapters/postgres/index.js';
import { valueFrom } from '../../conformance/storage/storage-subject.js';
import { compare, longProgram, modelled, noThings, play } from '../../support/storage-programs.js';
import { locks } from './postgres-server.js';

const runs = Number(process.env['SIGNALBOX_POSTGRES_PROGRAMS'] ?? 25);

test('a random program gives the answers of the model, whichever of two processes takes each step', {
  timeout: 3_600_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(longProgram, fc.array(fc.boolean(), { minLength: 60, maxLength: 60 }), async (rounds, turns) => {
      const schema = `e${randomUUID().replaceAll('-', '')}`;
      const stores = [
        valueFrom(await postgresStorage(inject('postgres'), { schema, ...locks })),
        // One that forgets what it knows again and again.
        valueFrom(await postgresStorage(inject('postgres'), { schema, cacheSize: 1500, ...locks })),
      ] as const;
      let taken = 0;
      const next = (): (typeof stores)[number] => stores[turns[taken++ % turns.length] === true ? 1 : 0];
      let model = noThings;
      for (const round of rounds) {
        const after = modelled(model, round.write);
        await play(next(), round.write, model, after);
        model = after;
        for (const asked of round.queries) await compare(next(), asked, model);
      }
      for (const storage of stores) await storage.close();
    }),
    { numRuns: runs },
  );
});
