import { box, messageOf, type ValueOf } from '../app/engine.js';
import { useRead } from '../app/read.js';
import { may } from '../app/rights.js';
import { addressOf, Link, navigate } from '../app/router.js';
import { Screen } from '../app/shell.js';
import { Time } from '../app/time.js';
import { StatusMark } from '../parts/marks.js';
import { Copy, Id, Text } from '../parts/text.js';
import { announce } from '../parts/toasts.js';
import { View } from '../parts/view.js';
import { counted } from '../rules/durations.js';
import { causeText, chainOf, decisionText, failureSentences, type Relation } from '../rules/evaluation-words.js';
import { AllocationTable } from './job/overview.js';

type Evaluation = NonNullable<ValueOf<typeof box.evaluations.read>>;
type Related = NonNullable<Evaluation['RelatedEvals']>[number];

/** One evaluation: what caused it, what it decided, what it led to, and the chain that it belongs to. */
export function EvaluationScreen({ id }: { readonly id: string }) {
  const evaluation = useRead(`evaluation:${id}`, {
    topics: ['Evaluation'],
    read: ({ signal }) => box.evaluations.read(id, { namespace: '*', related: true, signal }),
  });
  const known = evaluation.state.value.value;
  return (
    <Screen
      title={known === undefined ? 'Evaluation' : `Evaluation of ${known.JobID}`}
      crumbs={
        known === undefined
          ? []
          : [
              { label: 'Jobs', to: addressOf(['jobs']) },
              { label: known.JobID, to: addressOf(['jobs', known.Namespace, known.JobID]) },
              { label: 'Evaluations', to: addressOf(['jobs', known.Namespace, known.JobID, 'evaluations']) },
            ]
      }
      beside={known !== undefined && <Header evaluation={known} />}
    >
      <View
        reading={evaluation}
        what="the evaluation"
        needs="read-job in its namespace"
        gone={<p>Evaluations that have ended are collected after some hours.</p>}
      >
        {(value) => (
          <>
            <Story evaluation={value} />
            <Chain evaluation={value} />
            <Created id={value.ID} namespace={value.Namespace} />
          </>
        )}
      </View>
    </Screen>
  );
}

function Header({ evaluation }: { readonly evaluation: Evaluation }) {
  const { ID, Status, Namespace, JobID, Priority, ModifyTime } = evaluation;
  const again = async (): Promise<void> => {
    const evaluated = await box.jobs.evaluate(JobID, { namespace: Namespace });
    evaluated.match(
      () => {
        announce('The job is evaluated again');
        navigate(addressOf(['jobs', Namespace, JobID, 'evaluations']));
      },
      (error) => announce(`It was not evaluated: ${messageOf(error)}`),
    );
  };
  return (
    <>
      <StatusMark status={Status} />
      <Id of={ID} what="the evaluation's ID" />
      <span class="secondary">
        priority {Priority}, changed <Time at={ModifyTime} />
      </span>
      <span class="room" />
      {may('jobs.evaluate', Namespace) && (
        <button type="button" onClick={() => void again()}>
          Evaluate the job again
        </button>
      )}
    </>
  );
}

function evaluationLink(id: string, words: string) {
  return (
    <Link to={addressOf(['evaluations', id])}>
      {words} <Text of={id.slice(0, 8)} />
    </Link>
  );
}

/** Caused by, decided, led to. */
function Story({ evaluation }: { readonly evaluation: Evaluation }) {
  const { TriggeredBy, StatusDescription = '', NodeID = '', WaitUntil = '', DeploymentID = '' } = evaluation;
  const { PreviousEval = '', NextEval = '', BlockedEval = '', Status, PlanAnnotations } = evaluation;
  const groups = Object.entries(PlanAnnotations?.DesiredTGUpdates ?? {});
  const failed = Object.entries(evaluation.FailedTGAllocs ?? {});
  const queued = Object.entries(evaluation.QueuedAllocations ?? {}).filter(([, count]) => count > 0);
  return (
    <section class="panel">
      <dl class="facts">
        <dt>Caused by</dt>
        <dd>
          {causeText(TriggeredBy)}
          {NodeID !== '' && (
            <>
              {' '}
              (
              <Link to={addressOf(['nodes', NodeID])}>
                node <Text of={NodeID.slice(0, 8)} />
              </Link>
              )
            </>
          )}
          .{PreviousEval !== '' && <> It continues {evaluationLink(PreviousEval, 'evaluation')}.</>}
        </dd>
        <dt>Decided</dt>
        <dd>
          {Status === 'pending' &&
            (WaitUntil === '' ? (
              'Nothing yet.'
            ) : (
              <>
                Nothing yet: it is due <Time at={WaitUntil} />.
              </>
            ))}
          {Status === 'blocked' && 'Nothing yet: it waits until a node may have room.'}
          {StatusDescription !== '' && (
            <p>
              <Text of={StatusDescription} />
            </p>
          )}
          <ul>
            {groups.map(([group, updates]) => (
              <li key={group}>
                <Text of={group} />: {decisionText(updates)}
              </li>
            ))}
          </ul>
        </dd>
        <dt>Led to</dt>
        <dd>
          <ul>
            {DeploymentID !== '' && (
              <li>
                the deployment <Id of={DeploymentID} what="the deployment's ID" />
              </li>
            )}
            {queued.map(([group, count]) => (
              <li key={group}>
                {counted(count, 'allocation')} of <Text of={group} /> {count === 1 ? 'waits' : 'wait'} for room
              </li>
            ))}
            {BlockedEval !== '' && <li>{evaluationLink(BlockedEval, 'the evaluation that waits for room')}</li>}
            {NextEval !== '' && <li>{evaluationLink(NextEval, 'the later evaluation')}</li>}
            {DeploymentID === '' && queued.length === 0 && BlockedEval === '' && NextEval === '' && (
              <li>nothing further</li>
            )}
          </ul>
        </dd>
      </dl>
      {failed.map(([group, metric]) => {
        const text = failureSentences(metric).join(' ');
        return (
          <p key={group} class="notice waiting">
            <strong>
              <Text of={group} /> had no room.
            </strong>{' '}
            <Text of={text} /> <Copy value={`${group}: ${text}`} what="the reason" />
          </p>
        );
      })}
    </section>
  );
}

const relations: Readonly<Record<Relation, string>> = {
  first: '',
  next: 'Then, later: ',
  blocked: 'Then, when there may be room: ',
  follows: 'Then: ',
};

/** The evaluations that led to this one and follow from it, in the order in which they were created. */
function Chain({ evaluation }: { readonly evaluation: Evaluation }) {
  const related = evaluation.RelatedEvals ?? [];
  if (related.length === 0) return null;
  const chain = chainOf<Evaluation | Related>([evaluation, ...related]);
  return (
    <section class="panel">
      <h2>The chain, {counted(chain.length, 'evaluation')}</h2>
      {related.length >= 500 && <p class="hint">The 500 that are nearest are listed; there may be more.</p>}
      <ol>
        {chain.map(({ evaluation: each, relation }) => (
          <li key={each.ID} class="line">
            <span class="what">
              {relations[relation]}
              {causeText(each.TriggeredBy)}.{' '}
              {(each.StatusDescription ?? '') !== '' && (
                <small>
                  <Text of={each.StatusDescription} />
                </small>
              )}
            </span>
            <StatusMark status={each.Status} />
            <Time at={each.CreateTime} />
            {each.ID === evaluation.ID ? <strong>this one</strong> : evaluationLink(each.ID, 'open')}
          </li>
        ))}
      </ol>
    </section>
  );
}

function Created({ id, namespace }: { readonly id: string; readonly namespace: string }) {
  const allocations = useRead(`evaluation-allocations:${id}`, {
    topics: ['Allocation'],
    read: ({ signal }) => box.evaluations.allocations(id, { namespace, signal }),
  });
  return (
    <section>
      <h2>Allocations that it created</h2>
      <View
        reading={allocations}
        what="the allocations"
        needs={`read-job in ${namespace}`}
        isEmpty={(list) => list.length === 0}
        empty={<p>None.</p>}
      >
        {(list) => <AllocationTable name="Allocations of the evaluation" allocations={list} />}
      </View>
    </section>
  );
}
