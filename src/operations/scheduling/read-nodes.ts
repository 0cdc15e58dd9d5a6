import { errAsync, type ResultAsync } from 'neverthrow';
import type { Principal } from '../../access/principal.js';
import type { Row, StorageError } from '../../ports/storage.js';
import { type Node, nodes } from '../../scheduler/node.js';
import { authoriseManagement, type PermissionDenied } from '../shared/authorise.js';
import { answerQuery, type Waiting } from '../shared/blocking-query.js';
import type { EngineContext } from '../shared/context.js';
import type { Answer } from '../shared/parked-queries.js';

/** All nodes whose id begins with the prefix, by id. */
export function listNodes(
  context: EngineContext,
  caller: Principal,
  input: { readonly prefix?: string } = {},
  waiting: Waiting = {},
): ResultAsync<Answer<readonly Row<Node>[]>, PermissionDenied | StorageError> {
  const allowed = authoriseManagement(caller);
  if (allowed.isErr()) return errAsync(allowed.error);
  const textPrefix = input.prefix ?? '';
  return answerQuery(
    context,
    {
      key: `nodes:${textPrefix}`,
      tables: [nodes],
      run: (view) => ({ index: view.tableIndex(nodes), value: view.list(nodes, { textPrefix }) }),
    },
    waiting,
  );
}

/** One node; waits for it to appear like every read. */
export function readNode(
  context: EngineContext,
  caller: Principal,
  input: { readonly nodeId: string },
  waiting: Waiting = {},
): ResultAsync<Answer<Row<Node> | undefined>, PermissionDenied | StorageError> {
  const allowed = authoriseManagement(caller);
  if (allowed.isErr()) return errAsync(allowed.error);
  return answerQuery(
    context,
    {
      key: `node:${input.nodeId}`,
      tables: [nodes],
      run: (view) => {
        const row = view.get(nodes, [input.nodeId]);
        return { index: row?.record.ModifyIndex ?? view.tableIndex(nodes), value: row };
      },
    },
    waiting,
  );
}
