import { Fragment } from 'preact';
import { useState } from 'preact/hooks';
import { box, type ValueOf } from '../../app/engine.js';
import { mayEdit } from '../../app/rights.js';
import { addressOf, Link } from '../../app/router.js';
import { FailureNote } from '../../parts/form.js';
import { Mark } from '../../parts/marks.js';
import { Text } from '../../parts/text.js';
import {
  changedJob,
  changeQuery,
  differenceOf,
  type GroupChange,
  isNoChange,
  sizeOf,
  suggestedSize,
} from '../../rules/group-change.js';
import { verdictOf } from '../../rules/simulation-words.js';
import { Basis, type Simulation, useSimulation, wantedCount } from '../what-if.js';
import { documentOf, type Job } from './job.js';

interface TryProps {
  readonly namespace: string;
  readonly id: string;
  readonly job: Job;
  readonly group: ValueOf<typeof box.jobs.placement>['groups'][number];
}

interface Tried {
  readonly change: GroupChange;
  readonly simulation: Simulation;
  readonly count: number | undefined;
}

/** How long a trial is played, in milliseconds. */
const tenMinutes = 600_000;

/** Another size of a group that waits for room: simulated first, then taken to the editor. */
export function TryChange({ namespace, id, job, group }: TryProps) {
  const present = sizeOf(job, group.group);
  const [size, setSize] = useState(() => suggestedSize(present, group.nodes[0]?.obstacles ?? []));
  const { played: tried, failure, isBusy, run } = useSimulation<Tried>();
  const change = differenceOf(present, size);
  const isSuggested = !isNoChange(differenceOf(present, suggestedSize(present, group.nodes[0]?.obstacles ?? [])));
  const simulate = (event: Event): void => {
    event.preventDefault();
    const changed = changedJob(documentOf(job), change);
    const simulated = box.jobs.simulate({ job: changed, namespace, duration: tenMinutes });
    void run(simulated.map((simulation) => ({ change, simulation, count: wantedCount(changed) })));
  };
  const number = (label: string, value: number | undefined, least: number, set: (value: number) => void) => (
    <label>
      <Text of={label} />{' '}
      <input
        type="number"
        class="short"
        required
        min={least}
        step={1}
        value={value}
        onInput={(event) => set(Math.trunc(event.currentTarget.valueAsNumber) || 0)}
      />
    </label>
  );
  const names = Object.keys(size.tasks);
  const of = (name: string): string => (names.length > 1 ? ` of ${name}` : '');
  return (
    <section class="stack" aria-label={`A change of ${group.group}`}>
      <form class="toolbar" onSubmit={simulate}>
        {number('Count', size.count, 0, (count) => setSize({ ...size, count }))}
        {Object.entries(size.tasks).map(([name, task]) => (
          <Fragment key={name}>
            {number(`Memory${of(name)} in MiB`, task.memory, 1, (memory) =>
              setSize({ ...size, tasks: { ...size.tasks, [name]: { ...task, memory } } }),
            )}
            {number(`CPU${of(name)} in MHz`, task.cpu, 1, (cpu) =>
              setSize({ ...size, tasks: { ...size.tasks, [name]: { ...task, cpu } } }),
            )}
          </Fragment>
        ))}
        <button type="submit" disabled={isBusy || isNoChange(change)}>
          {isBusy ? 'Simulating…' : 'Simulate'}
        </button>
      </form>
      <p class="hint">
        {isSuggested
          ? 'What the nearest node has room for is filled in. Nothing is stored.'
          : 'No other size is enough on the nearest node. Nothing is stored.'}
      </p>
      <FailureNote of={failure} lead="It cannot be simulated: " />
      {tried !== undefined && <Verdict {...tried} namespace={namespace} id={id} />}
    </section>
  );
}

interface VerdictProps extends Tried {
  readonly namespace: string;
  readonly id: string;
}

function Verdict({ change, simulation, count, namespace, id }: VerdictProps) {
  const { helps, sentences } = verdictOf(simulation, { namespace, jobId: id, count }, change.group);
  return (
    <>
      <div role="status">
        <Mark mark={helps ? 'good' : 'failed'} word={helps ? 'It helps' : 'No help'} />
        {sentences.map((sentence) => (
          <p key={sentence}>
            <Text of={sentence} />
          </p>
        ))}
      </div>
      {mayEdit(namespace) && (
        <p>
          <Link class="button" to={addressOf(['jobs', namespace, id, 'plan'], changeQuery(change))}>
            Open the editor with this change
          </Link>
        </p>
      )}
      <Basis simulation={simulation} />
    </>
  );
}
