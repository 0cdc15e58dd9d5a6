import { box, messageOf, type ValueOf } from '../../app/engine.js';
import { useRead } from '../../app/read.js';
import { may } from '../../app/rights.js';
import { Countdown, millisecondsOf, Time } from '../../app/time.js';
import { isDeploying } from '../../job-rules.js';
import { ask } from '../../parts/dialog.js';
import { Mark, StatusMark } from '../../parts/marks.js';
import { Id, Text } from '../../parts/text.js';
import { announce } from '../../parts/toasts.js';
import { View } from '../../parts/view.js';
import type { GuardedCall } from '../../rules/rights-of-calls.js';
import type { JobFacts } from './job.js';

type Deployment = NonNullable<ValueOf<typeof box.jobs.latestDeployment>>;

/** Whether all canaries of a deployment are healthy, and there are some that are not promoted. */
export function isPromotable({ Status, TaskGroups }: Deployment): boolean {
  const waiting = Object.values(TaskGroups).filter(({ DesiredCanaries, Promoted }) => DesiredCanaries > 0 && !Promoted);
  return (
    (Status === 'running' || Status === 'paused') &&
    waiting.length > 0 &&
    waiting.every(({ DesiredCanaries, HealthyAllocs }) => HealthyAllocs >= DesiredCanaries)
  );
}

export async function promote(deployment: Deployment): Promise<void> {
  const promoted = await box.deployments.promote(deployment.ID, { all: true });
  promoted.match(
    () => announce(`The canaries of ${deployment.JobID} are promoted`),
    (error) => announce(`They were not promoted: ${messageOf(error)}`),
  );
}

async function pause({ ID, Status }: Deployment): Promise<void> {
  const paused = await box.deployments.pause(ID, { pause: Status !== 'paused' });
  paused.mapErr((error) => announce(`It was not done: ${messageOf(error)}`));
}

export function DeploymentPanel({
  deployment,
  refresh,
}: {
  readonly deployment: Deployment;
  readonly refresh: () => Promise<void>;
}) {
  const { ID, Namespace, JobVersion, Status, StatusDescription, TaskGroups } = deployment;
  const mayDo = (call: GuardedCall): boolean => isDeploying(deployment) && may(call, Namespace);
  const act = (run: PromiseLike<unknown>): void => void run.then(refresh);
  const deadline = Math.min(
    ...Object.values(TaskGroups).map(
      ({ RequireProgressBy }) => millisecondsOf(RequireProgressBy) ?? Number.POSITIVE_INFINITY,
    ),
  );
  return (
    <section class="panel" aria-label={`Deployment of version ${JobVersion}`}>
      <div class="line">
        <span class="what">
          <StatusMark status={Status} /> v{JobVersion} <Id of={ID} what="the deployment's ID" />{' '}
          <Text of={StatusDescription} />
        </span>
        {isDeploying(deployment) && Number.isFinite(deadline) && (
          <span>
            deadline in <Countdown until={deadline} />
          </span>
        )}
        {mayDo('deployments.promote') && isPromotable(deployment) && (
          <button type="button" class="primary" onClick={() => act(promote(deployment))}>
            Promote
          </button>
        )}
        {mayDo('deployments.pause') && (
          <button type="button" onClick={() => act(pause(deployment))}>
            {Status === 'paused' ? 'Resume' : 'Pause'}
          </button>
        )}
        {mayDo('deployments.fail') && (
          <button
            type="button"
            class="danger"
            onClick={() =>
              ask({
                title: 'Fail the deployment',
                body: (
                  <p>The deployment ends as failed. With auto_revert the job returns to its last stable version.</p>
                ),
                action: 'Fail it',
                isDestructive: true,
                run: () => box.deployments.fail(ID),
                after: () => void refresh(),
              })
            }
          >
            Fail…
          </button>
        )}
      </div>
      {Object.entries(TaskGroups).map(([name, group]) => (
        <div class="line" key={name}>
          <strong class="what">
            <Text of={name} />
          </strong>
          <span>
            {group.HealthyAllocs} of {group.DesiredTotal} healthy
          </span>
          <span>{group.PlacedAllocs} placed</span>
          {group.UnhealthyAllocs > 0 && <Mark mark="failed" word={`${group.UnhealthyAllocs} unhealthy`} />}
          {group.DesiredCanaries > 0 && (
            <span>
              {group.PlacedCanaries?.length ?? 0} of {group.DesiredCanaries} canaries,{' '}
              {group.Promoted ? 'promoted' : group.AutoPromote ? 'promoted automatically' : 'not promoted'}
            </span>
          )}
        </div>
      ))}
    </section>
  );
}

export function DeploymentsTab({ namespace, id }: JobFacts) {
  const deployments = useRead(`deployments:${namespace}/${id}`, {
    topics: ['Deployment'],
    read: ({ signal }) => box.jobs.deployments(id, { namespace, signal }),
  });
  return (
    <View
      reading={deployments}
      what="the deployments"
      needs={`read-job in ${namespace}`}
      isEmpty={(list) => list.length === 0}
      empty={
        <p>No version of this job was deployed. A service with an update block has a deployment for each version.</p>
      }
    >
      {(list) => (
        <>
          {list.map((deployment) => (
            <div key={deployment.ID}>
              <small>
                begun <Time at={deployment.CreateTime} />
              </small>
              <DeploymentPanel deployment={deployment} refresh={deployments.refresh} />
            </div>
          ))}
        </>
      )}
    </View>
  );
}
