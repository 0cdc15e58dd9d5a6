import { errAsync, type ResultAsync } from 'neverthrow';
import type { Principal } from '../../access/principal.js';
import { type InvalidRequest, malformedId } from '../../jobs/errors.js';
import type { ReadView, Row, StorageError } from '../../ports/storage.js';
import { isUuid } from '../../queries/page.js';
import { type Node, nodes } from '../../scheduler/node.js';
import type { EngineContext } from '../context/engine-context.js';
import { answerList, type ListAnswer, type ListRequest, namedSource } from '../listing/answer-list.js';
import { compileFilter } from '../listing/filters.js';
import { answerQuery, type MayWait } from '../waiting/blocking-query.js';
import { type Answer, rowsUnder } from '../waiting/parked-queries.js';

/** Selects the nodes of `listNodes`, and whether it waits for a change. */
export interface ListNodesInput extends ListRequest, MayWait {}

/** A page of the nodes, by ID. Index: that of the nodes. */
export function listNodes(
  context: EngineContext,
  _caller: Principal,
  input: ListNodesInput = {},
): ListAnswer<Row<Node>> {
  const list = {
    key: ['nodes'],
    tables: [nodes],
    source: (view: ReadView) => namedSource(view, nodes, input),
    filters: compileFilter.node,
    filtered: (_: ReadView, { record }: Row<Node>) => record,
    show: (_: ReadView, row: Row<Node>) => row,
  };
  return answerList(context, input, list);
}

interface NodeQuery extends MayWait {
  readonly nodeId: string;
}

/** One node; like every blocking query it can wait for the node to appear, unless no node can have the ID. */
export function readNode(
  context: EngineContext,
  _caller: Principal,
  input: NodeQuery,
): ResultAsync<Answer<Row<Node> | undefined>, InvalidRequest | StorageError> {
  if (isUuid(input.nodeId)) return answerNode(context, input);
  // A host may give its node an ID that is not a UUID.
  return context.storage
    .read((view) => view.get(nodes, [input.nodeId]) !== undefined)
    .andThen((known) => (known ? answerNode(context, input) : errAsync(malformedId())));
}

function answerNode(
  context: EngineContext,
  input: NodeQuery,
): ResultAsync<Answer<Row<Node> | undefined>, InvalidRequest | StorageError> {
  return answerQuery(
    context,
    {
      key: `node:${input.nodeId}`,
      tables: [rowsUnder(nodes, [input.nodeId])],
      run: (view) => {
        const row = view.get(nodes, [input.nodeId]);
        return { index: row?.record.ModifyIndex ?? view.tableIndex(nodes), value: row };
      },
    },
    input.waiting,
  );
}
