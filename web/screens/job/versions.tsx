import { useState } from 'preact/hooks';
import { box, messageOf } from '../../app/engine.js';
import { useRead } from '../../app/read.js';
import { may } from '../../app/rights.js';
import { addressOf, Link, navigate } from '../../app/router.js';
import { Time } from '../../app/time.js';
import { ask } from '../../parts/dialog.js';
import { Choice, Field } from '../../parts/form.js';
import { Mark } from '../../parts/marks.js';
import { Text } from '../../parts/text.js';
import { announce } from '../../parts/toasts.js';
import { View } from '../../parts/view.js';
import { Diff } from './diff.js';
import { documentOf, type Job, type JobFacts } from './job.js';

interface VersionsProps extends JobFacts {
  /** Two versions to compare, as `3..7`. */
  readonly range: string | undefined;
}

export function VersionsTab({ namespace, id, job, range }: VersionsProps) {
  const versions = useRead(`versions:${namespace}/${id}`, {
    topics: ['Job'],
    read: ({ signal }) => box.jobs.versions(id, { namespace, signal, diffs: true }),
  });
  const compared = /^(\d+)\.\.(\d+)$/.exec(range ?? '');
  return (
    <View reading={versions} what="the versions" needs={`read-job in ${namespace}`}>
      {({ versions: list, diffs }) => (
        <>
          {compared !== null && (
            <Compared namespace={namespace} id={id} older={Number(compared[1])} newer={Number(compared[2])} />
          )}
          {list.length > 1 && <Compare namespace={namespace} id={id} versions={list.map(({ Version }) => Version)} />}
          {list.map((version, at) => (
            <section class="panel" key={version.Version} aria-label={`Version ${version.Version}`}>
              <div class="line">
                <span class="what">
                  <strong>v{version.Version}</strong> {version.Version === job.Version && 'current '}
                  {version.Stable && <Mark mark="good" word="stable" />}{' '}
                  {version.Stop && <Mark mark="off" word="stopped" />}
                  {version.VersionTag != null && (
                    <span class="chip">
                      <Text of={version.VersionTag.Name} />
                    </span>
                  )}{' '}
                  <Time at={version.SubmitTime} />
                </span>
                <Link to={addressOf(['jobs', namespace, id, 'definition'], { version: String(version.Version) })}>
                  Source
                </Link>
                {may('jobs.revert', namespace) && version.Version !== job.Version && (
                  <Revert namespace={namespace} id={id} job={job} version={version} />
                )}
                {may('jobs.tagVersion', namespace) && (
                  <Tag namespace={namespace} id={id} version={version} done={() => void versions.refresh()} />
                )}
              </div>
              {diffs?.[at] !== undefined && (
                <details>
                  <summary>Changes from v{list[at + 1]?.Version}</summary>
                  <Diff diff={diffs[at]} />
                </details>
              )}
            </section>
          ))}
        </>
      )}
    </View>
  );
}

function Compare({
  namespace,
  id,
  versions,
}: {
  readonly namespace: string;
  readonly id: string;
  readonly versions: readonly number[];
}) {
  const [older, setOlder] = useState(String(versions[1]));
  const [newer, setNewer] = useState(String(versions[0]));
  const options = versions.map((version) => [String(version), `v${version}`] as const);
  return (
    <form
      class="toolbar"
      onSubmit={(event) => {
        event.preventDefault();
        navigate(addressOf(['jobs', namespace, id, 'versions', `${older}..${newer}`]));
      }}
    >
      <Choice label="Compare" value={older} change={setOlder} options={options} />
      <Choice label="with" value={newer} change={setNewer} options={options} />
      <button type="submit">Compare</button>
    </form>
  );
}

interface ComparedProps {
  readonly namespace: string;
  readonly id: string;
  readonly older: number;
  readonly newer: number;
}

export function Compared({ namespace, id, older, newer }: ComparedProps) {
  const diffs = useRead(`diff:${namespace}/${id}:${older}..${newer}`, {
    topics: ['Job'],
    read: ({ signal }) => box.jobs.versions(id, { namespace, signal, diffs: true, diffVersion: older }),
  });
  return (
    <section class="panel">
      <h2>
        v{older} → v{newer}
      </h2>
      <View reading={diffs} what="the differences">
        {({ versions, diffs: all }) => {
          const at = versions.filter(({ Version }) => Version !== older).findIndex(({ Version }) => Version === newer);
          const diff = all?.[at];
          return diff === undefined ? <p>One of the versions is not kept.</p> : <Diff diff={diff} />;
        }}
      </View>
    </section>
  );
}

interface RevertProps {
  readonly namespace: string;
  readonly id: string;
  readonly job: Job;
  readonly version: Job;
}

/** A revert shows its plan first; the version that was planned against must still be the current one. */
function Revert({ namespace, id, job, version }: RevertProps) {
  const open = async (): Promise<void> => {
    const planned = await box.jobs.plan(id, documentOf(version), { namespace, diff: true });
    if (planned.isErr()) return announce(`There is no plan for it: ${messageOf(planned.error)}`);
    const { diff, warnings } = planned.value;
    ask({
      title: `Return to v${version.Version}`,
      body: (
        <>
          <p>The definition of v{version.Version} becomes a new version.</p>
          {warnings !== '' && (
            <p class="notice waiting">
              <Text of={warnings} />
            </p>
          )}
          {diff !== null && <Diff diff={diff} />}
        </>
      ),
      action: 'Return',
      run: () => box.jobs.revert(id, version.Version, { namespace, enforcePriorVersion: job.Version }),
      after: () => navigate(addressOf(['jobs', namespace, id])),
    });
  };
  return (
    <button type="button" onClick={() => void open()}>
      Return to this…
    </button>
  );
}

interface TagProps {
  readonly namespace: string;
  readonly id: string;
  readonly version: Job;
  readonly done: () => void;
}

function Tag({ namespace, id, version, done }: TagProps) {
  const tag = version.VersionTag?.Name;
  if (tag !== undefined)
    return (
      <button type="button" class="quiet" onClick={() => void box.jobs.untagVersion(id, tag, { namespace }).then(done)}>
        Remove the tag
      </button>
    );
  const open = (): void => {
    let name = '';
    ask({
      title: `Tag v${version.Version}`,
      body: (
        <Field id="tag" label="Name" hint="A tagged version is never removed.">
          <input id="tag" required onInput={(event) => (name = event.currentTarget.value)} />
        </Field>
      ),
      action: 'Tag',
      run: () => box.jobs.tagVersion(id, name, { namespace, version: version.Version }),
      after: done,
    });
  };
  return (
    <button type="button" class="quiet" onClick={open}>
      Tag…
    </button>
  );
}
