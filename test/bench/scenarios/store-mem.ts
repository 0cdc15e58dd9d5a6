import { ok } from 'neverthrow';
import { memoryStorage } from '../../../adapters/memory/memory-storage.js';
import type { Storage } from '../../../src/ports/storage.js';
import { table } from '../../../src/shared/table.js';
import { asCost, compareRates, type Measured, type Slice, sampleDocument } from './store-slices.js';

type Document = ReturnType<typeof sampleDocument>;

const documents = table<Document>('documents', (document) => [document.Namespace, document.ID], {
  byTime: { version: 1, key: (document) => [document.SubmitTime] },
});

interface Version {
  readonly text: string;
  readonly index: number;
  readonly before: Version | undefined;
}

const ROWS = 20_000;
const BATCH = 256;
const limit = { max: 5 };
const cpu = { clock: 'cpu' } as const;

/** The memory storage against a map of version chains that prints and parses the same documents, with no order at all. */
export async function run(): Promise<Measured[]> {
  const samples = Array.from({ length: 256 }, (_, i) => sampleDocument(`sample-${i}`, i));
  const storage = memoryStorage();
  const versions = new Map<string, Version>();
  for (let i = 0; i < ROWS; i += BATCH) {
    const filled = await storage.write((view) => {
      for (let j = i; j < i + BATCH; j++) view.put(documents, { ...sample(samples, j), ID: `job-${j}` });
      return ok(null);
    });
    filled._unsafeUnwrap();
    for (let j = i; j < i + BATCH; j++) replace(versions, `job-${j}`, sample(samples, j), j);
  }
  const rows = [
    asCost(await compareRates('store.mem.write', writes(storage, samples), floorWrites(versions, samples), limit, cpu)),
    asCost(await compareRates('store.mem.read', reads(storage), floorReads(versions), limit, cpu)),
  ];
  await storage.close();
  return rows;
}

function sample(samples: readonly Document[], i: number): Document {
  return samples[i % samples.length] as Document;
}

function replace(versions: Map<string, Version>, id: string, document: Document, index: number): void {
  const text = JSON.stringify({ ...document, ID: id });
  versions.set(id, { text, index, before: versions.get(id)?.before });
}

function writes(storage: Storage, samples: readonly Document[]): Slice {
  let next = 0;
  return async (milliseconds) => {
    const end = performance.now() + milliseconds;
    let done = 0;
    for (; performance.now() < end; done++) {
      next = (next + 7919) % ROWS;
      const document = { ...sample(samples, next), ID: `job-${next}` };
      (await storage.write((view) => ok(view.put(documents, document))))._unsafeUnwrap();
    }
    return done;
  };
}

function floorWrites(versions: Map<string, Version>, samples: readonly Document[]): Slice {
  let next = 0;
  return (milliseconds) => {
    const end = performance.now() + milliseconds;
    let done = 0;
    for (; performance.now() < end; done++) {
      next = (next + 7919) % ROWS;
      replace(versions, `job-${next}`, sample(samples, next), done);
    }
    return done;
  };
}

function reads(storage: Storage): Slice {
  let next = 0;
  return async (milliseconds) => {
    const end = performance.now() + milliseconds;
    let done = 0;
    for (; performance.now() < end; done++) {
      next = (next + 7919) % ROWS;
      const key = ['default', `job-${next}`];
      const read = await storage.read((view) => view.get(documents, key)?.text.length ?? 0);
      if (read._unsafeUnwrap() === 0) throw new Error('the row is missing');
    }
    return done;
  };
}

/** A read of text, with nothing to parse: what is left is what the port itself costs. */
function floorReads(versions: Map<string, Version>): Slice {
  let next = 0;
  return async (milliseconds) => {
    const end = performance.now() + milliseconds;
    let done = 0;
    for (; performance.now() < end; done++) {
      next = (next + 7919) % ROWS;
      // A promise for the answer belongs to any storage.
      if ((await Promise.resolve(versions.get(`job-${next}`)?.text.length ?? 0)) === 0) throw new Error('missing');
    }
    return done;
  };
}
