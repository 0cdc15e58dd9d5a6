import { box, type EntryOf } from '../../app/engine.js';
import { useRead } from '../../app/read.js';
import { may } from '../../app/rights.js';
import { addressOf, Link } from '../../app/router.js';
import { Time } from '../../app/time.js';
import { StatusMark } from '../../parts/marks.js';
import { type Column, DataTable } from '../../parts/table.js';
import { Copy, Text } from '../../parts/text.js';
import { announce } from '../../parts/toasts.js';
import { View } from '../../parts/view.js';
import type { JobFacts } from './job.js';

type Evaluation = EntryOf<typeof box.jobs.evaluations>;

const columns: readonly Column<Evaluation>[] = [
  {
    key: 'id',
    title: 'Evaluation',
    cell: ({ ID }) => (
      <>
        <Link class="id" to={addressOf(['evaluations', ID])} data-row-link>
          <Text of={ID.slice(0, 8)} />
        </Link>
        <Copy value={ID} what="the evaluation's ID" />
      </>
    ),
  },
  { key: 'status', title: 'Status', cell: ({ Status }) => <StatusMark status={Status} /> },
  {
    key: 'why',
    title: 'Caused by',
    cell: ({ TriggeredBy, StatusDescription }) => (
      <>
        <Text of={TriggeredBy.replaceAll('-', ' ')} />{' '}
        <small>
          <Text of={StatusDescription} />
        </small>
      </>
    ),
  },
  {
    key: 'led',
    title: 'Led to',
    cell: ({ FailedTGAllocs, NextEval, BlockedEval, QueuedAllocations }) => {
      const queued = Object.values(QueuedAllocations ?? {}).reduce((sum, count) => sum + count, 0);
      const parts = [
        queued > 0 ? `${queued} queued` : '',
        FailedTGAllocs == null ? '' : `no room for ${Object.keys(FailedTGAllocs).join(', ')}`,
        BlockedEval ? 'a blocked evaluation' : '',
        NextEval ? 'a later evaluation' : '',
      ].filter((part) => part !== '');
      return <Text of={parts.join('; ')} />;
    },
  },
  { key: 'time', title: 'Changed', cell: ({ ModifyTime }) => <Time at={ModifyTime} /> },
];

export function EvaluationsTab({ namespace, id }: JobFacts) {
  const evaluations = useRead(`evaluations:${namespace}/${id}`, {
    topics: ['Evaluation'],
    read: ({ signal }) => box.jobs.evaluations(id, { namespace, signal }),
  });
  const again = async (): Promise<void> => {
    const evaluated = await box.jobs.evaluate(id, { namespace });
    evaluated.match(
      () => announce('The job is evaluated again'),
      (error) => announce(`It was not evaluated: ${'message' in error ? error.message : error.type}`),
    );
    await evaluations.refresh();
  };
  return (
    <>
      {may('jobs.evaluate', namespace) && (
        <div class="toolbar">
          <button type="button" onClick={() => void again()}>
            Evaluate again
          </button>
        </div>
      )}
      <View
        reading={evaluations}
        what="the evaluations"
        needs={`read-job in ${namespace}`}
        isEmpty={(list) => list.length === 0}
        empty={<p>There are none. Evaluations that have ended are collected after some hours.</p>}
      >
        {(list) => (
          <DataTable
            name="Evaluations"
            columns={columns}
            rows={[...list].sort((a, b) => b.CreateIndex - a.CreateIndex)}
            idOf={({ ID }) => ID}
          />
        )}
      </View>
    </>
  );
}
