import { ok } from 'neverthrow';
import { expect, it } from 'vitest';
import { memoryStorage } from '../../../../adapters/memory/index.js';
import type { TaskNeed } from '../../../../src/jobs/task-needs.js';
import { unmetByNodes } from '../../../../src/operations/records/scheduling/node-rows.js';
import type { ReadView } from '../../../../src/ports/storage.js';
import { needsAttribute, nodes } from '../../../../src/scheduler/node.js';
import { nodeFrom } from '../../../support/nodes.js';

/** The answers to the questions, and how often nodes were listed for them. */
async function ask(provisions: readonly (string | undefined)[], questions: readonly (readonly TaskNeed[])[]) {
  const storage = memoryStorage();
  const written = await storage.write((tx) => {
    for (const [at, provision] of provisions.entries()) {
      tx.put(nodes, nodeFrom(`n${at}`, { Attributes: provision === undefined ? {} : { [needsAttribute]: provision } }));
    }
    return ok(undefined);
  });
  written._unsafeUnwrap();
  let lists = 0;
  const answers = await storage.read((view) => {
    const counting: ReadView = {
      index: view.index,
      get: (table, key) => view.get(table, key),
      tableIndex: (table) => view.tableIndex(table),
      list: (table, query) => {
        lists += 1;
        return view.list(table, query);
      },
    };
    const unmet = unmetByNodes(counting);
    return questions.map((needs) => unmet(() => needs));
  });
  return { answers: answers._unsafeUnwrap(), lists };
}

it('tells what the most suitable node lacks', async () => {
  const { answers } = await ask(['user', 'templates,user'], [['templates'], ['templates', 'volumes'], ['volumes']]);
  expect(answers).toEqual([[], ['volumes'], ['volumes']]);
});

it('says nothing while there are no nodes, and of nodes that do not tell', async () => {
  expect((await ask([], [['templates']])).answers).toEqual([[]]);
  expect((await ask(['user', undefined], [['templates']])).answers).toEqual([[]]);
});

it('reads each different answer of nodes once for all questions, and no more than it needs', async () => {
  const many: TaskNeed[][] = Array.from({ length: 20 }, () => ['templates']);
  expect((await ask(['a', 'b', 'templates', 'u', 'v'], many)).lists).toBe(3);
  expect((await ask(['a', 'a', 'b'], many)).lists).toBe(3);
  expect((await ask([], many)).lists).toBe(1);
});
