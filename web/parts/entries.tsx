import { addressOf, Link } from '../app/router.js';
import { exactTime } from '../app/time.js';
import { durationText } from '../rules/durations.js';
import type { TimelineEntry, TimelineLine } from '../rules/timeline.js';
import { Mark } from './marks.js';
import { Text } from './text.js';

interface EntriesProps {
  readonly name: string;
  readonly lines: readonly TimelineLine[];
  /** The key of the entry for which the list was opened. */
  readonly chosen?: string | undefined;
}

/** What happened, oldest first, each with the record that says so. */
export function Entries({ name, lines, chosen }: EntriesProps) {
  return (
    <ol class="timeline" aria-label={name}>
      {lines.map((line) =>
        line.type === 'idle' ? (
          <li key={line.key}>
            <span aria-hidden="true">⋮</span>
            <small>{durationText(line.milliseconds)} nothing happened</small>
          </li>
        ) : (
          <Entry key={line.entry.key} entry={line.entry} isChosen={line.entry.key === chosen} />
        ),
      )}
    </ol>
  );
}

function Entry({ entry, isChosen }: { readonly entry: TimelineEntry; readonly isChosen: boolean }) {
  const { at, mark, word, words, source, isExpected = false } = entry;
  return (
    <li class={isChosen ? 'selected' : ''} {...(isChosen ? { 'aria-current': 'true' } : {})}>
      <EntryTime at={at} />
      <span>
        <Mark mark={mark} word={isExpected ? `expected: ${word}` : word} /> <Text of={words} />{' '}
        <Link to={addressOf(source.path, source.query)}>
          <Text of={source.label} />
        </Link>
        {isChosen && <strong> this event</strong>}
      </span>
    </li>
  );
}

/** Date and time without the zone, which the list says once. */
function EntryTime({ at }: { readonly at: number }) {
  if (!Number.isFinite(at)) return <span class="secondary">later</span>;
  const exact = exactTime(at);
  return (
    <time dateTime={new Date(at).toISOString()} title={exact}>
      {exact.slice(0, 19)}
    </time>
  );
}
