import { okAsync } from 'neverthrow';
import { useEffect, useState } from 'preact/hooks';
import { box, messageOf, type ValueOf } from '../app/engine.js';
import { useRead } from '../app/read.js';
import { may } from '../app/rights.js';
import { addressOf, Link, place, setQuery } from '../app/router.js';
import { namespaceWanted, Screen } from '../app/shell.js';
import { dayOf, serverNow, Time, zone } from '../app/time.js';
import { FailureNote } from '../parts/form.js';
import { StatusMark } from '../parts/marks.js';
import { Text } from '../parts/text.js';
import { View } from '../parts/view.js';
import { counted, countText, durationText } from '../rules/durations.js';
import { Findings, Launches, perDayText, Rate, type Schedule } from './job/schedule.js';

/** Launches of each schedule that the calendar counts. */
const launchesOfEach = 100;

export function ScheduleScreen() {
  const namespace = namespaceWanted();
  const schedules = useRead(`schedules:${namespace}`, {
    topics: ['Job'],
    every: 60_000,
    read: ({ signal }) => box.jobs.schedules({ namespace, launches: launchesOfEach, signal }),
  });
  return (
    <Screen title="Schedule">
      <TryExpression namespace={namespace} />
      <View
        reading={schedules}
        what="the schedules"
        needs="read-job"
        isEmpty={({ schedules: list }) => list.length === 0}
        empty={<p>No job is launched by the clock.</p>}
      >
        {({ schedules: list, isCut }) => (
          <>
            {isCut && <p class="hint">The first {counted(list.length, 'schedule')} are shown; there are more.</p>}
            <Calendar schedules={list} />
          </>
        )}
      </View>
      <FunctionSchedules namespace={namespace} />
    </Screen>
  );
}

const days = 14;

/** The next days, each job in the zone of its schedule. */
function Calendar({ schedules }: { readonly schedules: readonly Schedule[] }) {
  return (
    <section class="scroll">
      <table>
        <caption class="sr">Launches of the next {days} days</caption>
        <thead>
          <tr>
            <th scope="col">Job</th>
            <th scope="col">Expression</th>
            <th scope="col">Past</th>
            <th scope="col">Next</th>
            <th scope="col">Next {days} days</th>
          </tr>
        </thead>
        <tbody>
          {schedules.map((schedule) => (
            <ScheduleRow key={`${schedule.namespace}/${schedule.jobId}`} schedule={schedule} />
          ))}
        </tbody>
      </table>
    </section>
  );
}

function ScheduleRow({ schedule }: { readonly schedule: Schedule }) {
  const { namespace, jobId, specs, timeZone, launches, past, findings } = schedule;
  const [next] = launches;
  const marks = findings.filter(({ kind }) => kind !== 'note');
  return (
    <tr>
      <td>
        <Link to={addressOf(['jobs', namespace, jobId, 'schedule'])} data-row-link>
          <Text of={jobId} />
        </Link>
      </td>
      <td>
        <code>
          <Text of={specs.join(' · ')} />
        </code>{' '}
        <small>
          <Text of={timeZone} />
        </small>
        {marks.map(({ kind, message }) => (
          <p key={kind + message} class="waiting">
            ▲ <Text of={message} />
          </p>
        ))}
      </td>
      <td>
        {past.slice(0, 6).map(({ number, outcome }) => (
          <span key={number} title={outcome}>
            <StatusMark status={outcome} />{' '}
          </span>
        ))}
        {past[0]?.startedAt !== undefined && (
          <small>last took {durationText(Date.parse(past[0].endedAt) - Date.parse(past[0].startedAt))}</small>
        )}
      </td>
      <td>{next === undefined ? '–' : <Time at={next.at} />}</td>
      <td>
        <Days schedule={schedule} />
      </td>
    </tr>
  );
}

/**
 * Launches of the next days by day in the zone of the schedule; days with many are counted. A day on which a change of clocks leaves out or
 * repeats a launch is marked.
 */
function Days({ schedule }: { readonly schedule: Schedule }) {
  const { launches, specs, findings } = schedule;
  const end = serverNow.value + days * 86_400_000;
  const byDay = new Map<string, string[]>();
  const changed = changesOf(findings);
  for (const { day, at } of changed) if (at > serverNow.value && at < end) byDay.set(day, []);
  for (const { at, wallTime } of launches) {
    const day = wallTime.slice(0, 10);
    if (Date.parse(at) < end) byDay.set(day, [...(byDay.get(day) ?? []), wallTime.slice(11, 16)]);
  }
  const isCut = launches.length === launchesOfEach && Date.parse(launches.at(-1)?.at ?? '') < end;
  // The last day of a list that is cut is not known as a whole.
  const shown = [...byDay].sort(([a], [b]) => (a < b ? -1 : 1)).slice(0, isCut ? -1 : undefined);
  return (
    <span class="chips">
      {shown.map(([day, times]) => (
        <span class="chip" key={day}>
          {dayOf(Date.parse(`${day}T12:00:00Z`), 'UTC')}{' '}
          {times.length > 3 ? `${countText(times.length)}×` : times.join(' ')}
          {changed
            .filter((each) => each.day === day)
            .map(({ kind, time }) => (
              <span key={kind} class="waiting">
                {' '}
                ▲ {time} {kind === 'skipped' ? 'skipped' : 'twice'}
              </span>
            ))}
        </span>
      ))}
      {isCut && <span class="chip">{perDayText(specs)}</span>}
    </span>
  );
}

interface ClockChange {
  readonly kind: 'skipped' | 'doubled';
  readonly day: string;
  readonly time: string;
  readonly at: number;
}

/** The launches that a change of clocks leaves out or repeats; findings name their wall time. */
function changesOf(findings: Schedule['findings']): readonly ClockChange[] {
  return findings.flatMap(({ kind, message }) => {
    const found = /, (\d{4}-\d\d-\d\d) (\d\d:\d\d):\d\d in /.exec(message);
    if (found === null || (kind !== 'skipped' && kind !== 'doubled')) return [];
    const [, day = '', time = ''] = found;
    return [{ kind, day, time, at: Date.parse(`${day}T${time}:00Z`) }];
  });
}

type Tried = ValueOf<typeof box.jobs.trySchedule>;

function TryExpression({ namespace }: { readonly namespace: string }) {
  const spec = place.value.query.get('try') ?? '';
  const timeZone = place.value.query.get('zone') ?? zone.value;
  const [tried, setTried] = useState<Tried | undefined>(undefined);
  const [asked, setAsked] = useState<{ readonly specs: readonly string[]; readonly timeZone: string }>({
    specs: [],
    timeZone: '',
  });
  const [failure, setFailure] = useState('');
  const where = may('jobs.trySchedule', namespace) ? namespace : undefined;
  const tryOut = async (wanted: string, zoneOf: string): Promise<void> => {
    const answered = await (wanted === ''
      ? okAsync(undefined)
      : box.jobs.trySchedule([wanted], {
          timeZone: zoneOf,
          launches: 10,
          ...(where === undefined || where === '*' ? {} : { namespace: where }),
        }));
    setAsked({ specs: [wanted], timeZone: zoneOf });
    setTried(answered.unwrapOr(undefined));
    setFailure(answered.isErr() ? messageOf(answered.error) : '');
  };
  useEffect(() => {
    if (where !== undefined) void tryOut(spec, timeZone);
  }, []);
  if (where === undefined) return null;
  const submit = (event: Event): void => {
    event.preventDefault();
    const fields = new FormData(event.currentTarget as HTMLFormElement);
    const wanted = { try: String(fields.get('spec')).trim(), zone: String(fields.get('zone')) };
    setQuery(wanted);
    void tryOut(wanted.try, wanted.zone);
  };
  return (
    <form class="panel" onSubmit={submit}>
      <div class="toolbar">
        <label for="spec">Try an expression</label>
        <input
          id="spec"
          name="spec"
          class="mono"
          defaultValue={spec}
          placeholder="30 2 * * *"
          autocomplete="off"
          spellcheck={false}
        />
        <label>
          in{' '}
          <select name="zone">
            {[...new Set(['UTC', timeZone, ...Intl.supportedValuesOf('timeZone')])].map((each) => (
              <option key={each} value={each} selected={each === timeZone}>
                {each}
              </option>
            ))}
          </select>
        </label>
        <button type="submit">Try</button>
      </div>
      <FailureNote of={failure} />
      {tried !== undefined && (
        <div role="status">
          <Rate specs={asked.specs} />
          <p class="hint">Times are in {asked.timeZone}.</p>
          <Findings findings={tried.findings} />
          <Launches launches={tried.launches} />
        </div>
      )}
    </form>
  );
}

/** Cron schedules of functions. */
function FunctionSchedules({ namespace }: { readonly namespace: string }) {
  const functions = useRead(`schedule:functions:${namespace}`, {
    waits: true,
    read: ({ signal, ...how }) => box.functions.list({ namespace, signal, ...how }),
  });
  const rows =
    functions.state.value.value?.items.flatMap((each) => each.schedules.map((schedule) => ({ each, schedule }))) ?? [];
  if (rows.length === 0) return null;
  return (
    <section class="panel">
      <h2>Functions</h2>
      {rows.map(({ each, schedule }, at) => (
        <div class="line" key={at}>
          <Link class="what" to={addressOf(['functions', each.namespace, each.name])}>
            <Text of={each.name} />
          </Link>
          <code>
            <Text of={schedule.schedule} />
          </code>
          <small>
            <Text of={schedule.timeZone} />
          </small>
          <Time at={schedule.nextLaunch} />
        </div>
      ))}
    </section>
  );
}
