import type { ChangeScript, TaskTemplate } from '../../jobs/document/task-parts.js';
import { type Milliseconds, millisecondsFromNanos } from '../../shared/duration.js';
import { signalName } from '../task/task-plan.js';

/** What a running task is to notice of templates that have become something else. */
export interface TemplateChange {
  readonly restart: boolean;
  /** Each once, with `SIG`; empty with a restart. */
  readonly signals: readonly string[];
  /** Empty with a restart. */
  readonly scripts: readonly ChangeScript[];
  /** What is done waits for a random share of this. */
  readonly splay: Milliseconds;
}

type Changing = Pick<TaskTemplate, 'ChangeMode' | 'ChangeSignal' | 'ChangeScript' | 'Splay'>;

/** What the change modes of the changed templates ask for: a restart makes all else needless (guide to templates). */
export function templateChange(changed: readonly Changing[]): TemplateChange {
  const acting = changed.filter(({ ChangeMode }) => ChangeMode !== 'noop');
  const restart = acting.some(({ ChangeMode }) => ChangeMode === 'restart');
  const signals = new Set(
    acting.flatMap(({ ChangeMode, ChangeSignal }) => (ChangeMode === 'signal' ? [signalName(ChangeSignal)] : [])),
  );
  const scripts = acting.flatMap(({ ChangeMode, ChangeScript }) =>
    ChangeMode === 'script' && ChangeScript !== null ? [ChangeScript] : [],
  );
  return {
    restart,
    signals: restart ? [] : [...signals],
    scripts: restart ? [] : scripts,
    splay: Math.max(0, ...acting.map(({ Splay }) => millisecondsFromNanos(Splay))),
  };
}
