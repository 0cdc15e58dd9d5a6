import { box, type ValueOf } from '../../app/engine.js';
import { useRead } from '../../app/read.js';
import { serverNow, Time } from '../../app/time.js';
import { launchesPerDay } from '../../job-rules.js';
import { StatusMark } from '../../parts/marks.js';
import { Text } from '../../parts/text.js';
import { View } from '../../parts/view.js';
import { counted, durationText, relativeText } from '../../rules/durations.js';
import type { JobFacts } from './job.js';

export type Schedule = ValueOf<typeof box.jobs.schedules>['schedules'][number];

export function ScheduleTab({ namespace, id }: JobFacts) {
  const schedules = useRead(`schedule:${namespace}/${id}`, {
    topics: ['Job'],
    read: ({ signal }) => box.jobs.schedules({ namespace, jobId: id, launches: 20, signal }),
  });
  return (
    <View
      reading={schedules}
      what="the schedule"
      needs={`read-job in ${namespace}`}
      isEmpty={({ schedules: list }) => list.length === 0}
    >
      {({ schedules: [schedule] }) =>
        schedule !== undefined && (
          <>
            <p>
              <code>
                <Text of={schedule.specs.join('  ·  ')} />
              </code>{' '}
              in <Text of={schedule.timeZone} />
              {schedule.active ? '' : '; the clock does not launch it: it is stopped or disabled'}
              {schedule.prohibitsOverlap ? '; a launch is left out while an earlier instance runs' : ''}
            </p>
            <Rate specs={schedule.specs} />
            <Findings findings={schedule.findings} />
            <div class="columns">
              <section class="panel">
                <h2>Next launches</h2>
                <Launches launches={schedule.launches} />
              </section>
              <section class="panel">
                <h2>Past runs</h2>
                {schedule.past.length === 0 && <p class="hint">No run has ended yet.</p>}
                {schedule.past.map((run) => (
                  <div class="line" key={run.number}>
                    <StatusMark status={run.outcome} />
                    <span class="what">
                      ended <Time at={run.endedAt} />
                    </span>
                    {run.startedAt !== undefined && (
                      <span>{durationText(Date.parse(run.endedAt) - Date.parse(run.startedAt))}</span>
                    )}
                  </div>
                ))}
              </section>
            </div>
          </>
        )
      }
    </View>
  );
}

/** `96 launches a day`, on days with launches. */
export function perDayText(specs: readonly string[]): string {
  return `${counted(launchesPerDay(specs), 'launch', 'launches')} a day`;
}

/** More launches a day than most people mean. */
const manyLaunches = 1440;

/** A warning about an expression that launches very often. */
export function Rate({ specs }: { readonly specs: readonly string[] }) {
  if (launchesPerDay(specs) <= manyLaunches) return <p class="hint">{perDayText(specs)}</p>;
  return (
    <p class="notice waiting">
      ▲ {perDayText(specs)}, on each day with launches. An expression with six or seven fields begins with seconds.
    </p>
  );
}

export function Findings({ findings }: { readonly findings: Schedule['findings'] }) {
  return (
    <>
      {findings.map(({ kind, message, spec }) => (
        <p key={kind + message} class={`notice ${kind === 'note' ? '' : 'waiting'}`}>
          <code>
            <Text of={spec} />
          </code>{' '}
          <Text of={message} />
        </p>
      ))}
    </>
  );
}

/** Launches in the zone of the schedule, with its offset. */
export function Launches({ launches }: { readonly launches: Schedule['launches'] }) {
  if (launches.length === 0) return <p class="hint">There is no further launch.</p>;
  return (
    <ul>
      {launches.map(({ at, wallTime }) => (
        <li class="line" key={at}>
          <time class="what" dateTime={at} title={at}>
            {wallTime.replace('T', ' ').replace(/(?:\.\d+)?([+-]\d\d:\d\d|Z)$/, ' $1')}
          </time>
          <span class="secondary">{relativeText(Date.parse(at), serverNow.value)}</span>
        </li>
      ))}
    </ul>
  );
}
