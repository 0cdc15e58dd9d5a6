import { randomUUID } from 'node:crypto';
import { err } from 'neverthrow';
import { expect, inject, test } from 'vitest';
import { postgresStorage } from '../../../adapters/postgres/index.js';
import { commit, look, things, valueFrom } from '../../conformance/storage/storage-subject.js';

test('a write that is refused has seen all that was acknowledged before it, also while reads of its process learn of it', async () => {
  const schema = `c${randomUUID().replaceAll('-', '')}`;
  const [one, other] = [
    valueFrom(await postgresStorage(inject('postgres'), { schema })),
    valueFrom(await postgresStorage(inject('postgres'), { schema })),
  ];
  let acknowledged = 0;
  let isOver = false;
  const counting = async (): Promise<void> => {
    for (let n = 1; n <= 400; n += 1) {
      await commit(other, (view) => view.put(things, { key: ['n'], text: String(n) }));
      acknowledged = n;
    }
    isOver = true;
  };
  const reading = async (): Promise<void> => {
    while (!isOver) await look(one, (view) => view.get(things, ['n'])?.record.text);
  };
  const refused = async (): Promise<void> => {
    while (!isOver) {
      const before = acknowledged;
      const result = await one.write((view) => err(Number(view.get(things, ['n'])?.record.text ?? 0)));
      expect(result._unsafeUnwrapErr()).toBeGreaterThanOrEqual(before);
    }
  };
  await Promise.all([counting(), reading(), reading(), refused(), refused()]);
  await Promise.all([one.close(), other.close()]);
});
