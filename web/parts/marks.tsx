import type { StateMark } from '../job-rules.js';

/** Shapes on a grid of 12: a state is never shown by its colour alone. */
const shapes: Readonly<Record<StateMark, string>> = {
  running: 'M6 1a5 5 0 1 0 0 10A5 5 0 0 0 6 1',
  good: 'M4.6 10.4 1 6.8l1.5-1.5 2.1 2.1 4.9-5.6L11 3.2z',
  waiting: 'M6 1a5 5 0 1 0 0 10A5 5 0 0 0 6 1m0 1.6a3.4 3.4 0 1 1 0 6.8zM6 2.600v0',
  degraded: 'M6 1 11.500 11H.5z',
  failed: 'm2.400 1 3.600 3.600L9.600 1 11 2.400 7.400 6 11 9.600 9.600 11 6 7.400 2.400 11 1 9.600 4.600 6 1 2.400z',
  off: 'M2 2h8v8H2z',
  lost: 'M4 4a2 2 0 1 1 3 1.800c-.8.5-1.700 1-1.700 2.200h1.400c0-.6.5-.9 1.100-1.300A3.400 3.400 0 1 0 2.600 4zM5.300 9.300h1.500v1.500H5.300z',
};

/** A state: shape, colour and word. */
export function Mark({ mark, word }: { readonly mark: StateMark; readonly word: string }) {
  return (
    <span class={`mark ${mark}`}>
      <svg viewBox="0 0 12 12" fill="currentColor" aria-hidden="true">
        <path d={shapes[mark]} />
      </svg>
      {word}
    </span>
  );
}

const markOfStatus: Readonly<Record<string, StateMark>> = {
  running: 'running',
  ready: 'good',
  pending: 'waiting',
  initializing: 'waiting',
  blocked: 'waiting',
  paused: 'waiting',
  queued: 'waiting',
  delayed: 'waiting',
  waiting: 'waiting',
  complete: 'good',
  completed: 'good',
  successful: 'good',
  succeeded: 'good',
  passing: 'good',
  success: 'good',
  failed: 'failed',
  failing: 'failed',
  failure: 'failed',
  critical: 'failed',
  timed_out: 'failed',
  dead: 'off',
  stopped: 'off',
  cancelled: 'off',
  ineligible: 'off',
  draining: 'degraded',
  disconnected: 'lost',
  unknown: 'lost',
  lost: 'lost',
  down: 'failed',
};

/** The status of a record in its own word, with the mark that belongs to it. */
export function StatusMark({ status }: { readonly status: string }) {
  return <Mark mark={markOfStatus[status] ?? 'off'} word={status.replaceAll('_', ' ')} />;
}

export interface Counts {
  readonly running?: number;
  readonly good?: number;
  readonly waiting?: number;
  readonly failed?: number;
  readonly off?: number;
  readonly lost?: number;
}

const barOrder = ['running', 'good', 'waiting', 'lost', 'failed', 'off'] as const;

interface BarProps {
  readonly counts: Counts;
  /** A word for each kind that is shown. */
  readonly words: Readonly<Partial<Record<keyof Counts, string>>>;
}

/** Counts as a bar in a fixed order, and in words. */
export function CountBar({ counts, words }: BarProps) {
  const shown = barOrder.filter((kind) => (counts[kind] ?? 0) > 0);
  if (shown.length === 0) return <span class="secondary">–</span>;
  const text = shown.map((kind) => `${counts[kind]?.toLocaleString('en')} ${words[kind] ?? kind}`).join(', ');
  return (
    <span title={text}>
      <span class="counts" aria-hidden="true">
        {shown.map((kind) => (
          <i key={kind} class={kind} style={{ flexGrow: counts[kind] }} />
        ))}
      </span>
      {text}
    </span>
  );
}
