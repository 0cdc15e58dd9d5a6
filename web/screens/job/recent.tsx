import { useRead } from '../../app/read.js';
import { addressOf, Link } from '../../app/router.js';
import { Entries } from '../../parts/entries.js';
import { Text } from '../../parts/text.js';
import { View } from '../../parts/view.js';
import { type EventRecord, linesOf, subjectOfJob, subjectText, timelineOf } from '../../rules/timeline.js';
import { type JobPart, missingText, readJobPart, useNotifications } from '../timeline-records.js';
import type { JobFacts } from './job.js';

const mostEntries = 5;
const bounds = { mostEvents: 3, mostWorkspaces: 5 };

/** The last entries of the timeline of the job, with a link to the whole. */
export function Recent({ namespace, id }: Pick<JobFacts, 'namespace' | 'id'>) {
  const job = useRead(`timeline:${namespace}/${id}:`, {
    topics: ['Job', 'Allocation', 'Evaluation', 'Deployment'],
    pause: 2000,
    read: ({ signal }) => readJobPart(namespace, id, { signal }),
  });
  const subject = subjectOfJob(namespace, id);
  return (
    <section class="panel">
      <div class="line">
        <h2 class="what">Timeline</h2>
        <Link to={addressOf(['timeline'], { of: subjectText(subject) })}>The whole timeline</Link>
        {subject.type === 'run' && (
          <Link to={addressOf(['runs', namespace, subject.job, subject.instance])}>Compare with another run</Link>
        )}
      </div>
      <View reading={job} what="the timeline" needs={`read-job in ${namespace}`}>
        {(part) => (part.isParent ? <Latest part={part} events={[]} /> : <WithNotifications part={part} />)}
      </View>
    </section>
  );
}

function WithNotifications({ part }: { readonly part: JobPart }) {
  const { value, error } = useNotifications(part, bounds).state.value;
  return (
    <>
      <Latest part={part} events={value?.events ?? []} />
      {error !== undefined && (
        <p class="hint">
          <Text of={missingText(error)} />
        </p>
      )}
    </>
  );
}

function Latest({ part, events }: { readonly part: JobPart; readonly events: readonly EventRecord[] }) {
  const { entries } = timelineOf({ job: part.records, events });
  const { lines, left } = linesOf(entries, mostEntries);
  return (
    <>
      {left > 0 && <p class="hint">The last {mostEntries} entries.</p>}
      <Entries name="The last entries" lines={lines} />
    </>
  );
}
