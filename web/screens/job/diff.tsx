import type { ComponentChildren } from 'preact';
import type { box, ValueOf } from '../../app/engine.js';
import { Text } from '../../parts/text.js';

type JobDiff = NonNullable<ValueOf<typeof box.jobs.plan>['diff']>;
type Group = NonNullable<JobDiff['TaskGroups']>[number];
type Task = NonNullable<Group['Tasks']>[number];
type ObjectDiff = NonNullable<JobDiff['Objects']>[number];
type FieldDiff = NonNullable<JobDiff['Fields']>[number];

const signs: Readonly<Record<string, string>> = { Added: '+', Deleted: '-', Edited: '±', None: ' ' };
const words: Readonly<Record<string, string>> = { Added: 'added', Deleted: 'removed', Edited: 'changed' };

/** The differences between two definitions as a tree: sign, name, old and new value, and what the scheduler does because of it. */
export function Diff({ diff }: { readonly diff: JobDiff }) {
  const groups = (diff.TaskGroups ?? []).filter(({ Type, Updates }) => Type !== 'None' || Updates !== null);
  if (diff.Type === 'None' && groups.length === 0) return <p>There are no differences.</p>;
  return (
    <ul class="diff">
      <Node type={diff.Type} name={`job ${diff.ID}`}>
        <Parts fields={diff.Fields} objects={diff.Objects} />
        {groups.map((group) => (
          <GroupDiff key={group.Name} group={group} />
        ))}
      </Node>
    </ul>
  );
}

function GroupDiff({ group }: { readonly group: Group }) {
  const updates = Object.entries(group.Updates ?? {})
    .map(([what, count]) => `${count} ${what}`)
    .join(', ');
  return (
    <Node type={group.Type} name={`group ${group.Name}`} note={updates}>
      <Parts fields={group.Fields} objects={group.Objects} />
      {(group.Tasks ?? [])
        .filter(({ Type }) => Type !== 'None')
        .map((task: Task) => (
          <Node key={task.Name} type={task.Type} name={`task ${task.Name}`} note={(task.Annotations ?? []).join(', ')}>
            <Parts fields={task.Fields} objects={task.Objects} />
          </Node>
        ))}
    </Node>
  );
}

function Parts({
  fields,
  objects,
}: {
  readonly fields: readonly FieldDiff[] | null;
  readonly objects: readonly ObjectDiff[] | null;
}) {
  return (
    <>
      {(fields ?? [])
        .filter(({ Type }) => Type !== 'None')
        .map((field) => (
          <li key={field.Name} class={field.Type}>
            <Sign type={field.Type} /> <Text of={field.Name} />: <Values field={field} />{' '}
            {(field.Annotations ?? []).length > 0 && <small>({field.Annotations?.join(', ')})</small>}
          </li>
        ))}
      {(objects ?? [])
        .filter(({ Type }) => Type !== 'None')
        .map((object, at) => (
          <Node key={`${object.Name} ${at}`} type={object.Type} name={object.Name}>
            <Parts fields={object.Fields} objects={object.Objects} />
          </Node>
        ))}
    </>
  );
}

function Values({ field: { Type, Old, New } }: { readonly field: FieldDiff }) {
  if (Type === 'Added')
    return (
      <ins>
        <Text of={quoted(New)} />
      </ins>
    );
  if (Type === 'Deleted')
    return (
      <del>
        <Text of={quoted(Old)} />
      </del>
    );
  return (
    <>
      <del>
        <Text of={quoted(Old)} />
      </del>{' '}
      →{' '}
      <ins>
        <Text of={quoted(New)} />
      </ins>
    </>
  );
}

function quoted(value: string): string {
  return JSON.stringify(value.length > 400 ? `${value.slice(0, 400)}…` : value);
}

function Sign({ type }: { readonly type: string }) {
  return (
    <>
      <span aria-hidden="true">{signs[type]}</span>
      <span class="sr">{words[type]}</span>
    </>
  );
}

interface NodeProps {
  readonly type: string;
  readonly name: string;
  readonly note?: string;
  readonly children: ComponentChildren;
}

function Node({ type, name, note = '', children }: NodeProps) {
  return (
    <li>
      <span class={type}>
        <Sign type={type} /> <Text of={name} />
      </span>{' '}
      {note !== '' && <small>({note})</small>}
      <ul>{children}</ul>
    </li>
  );
}
