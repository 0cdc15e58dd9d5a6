import { quoted } from '../../shared/values.js';
import { type CronFields, cronFields } from './cron-expression.js';
import { type CronEntry, entriesOf, type FieldName, fieldSpan } from './cron-fields.js';

interface CronOddity {
  /** `trap`: probably not what the author meant. `note`: documented, but easy to forget. */
  readonly kind: 'trap' | 'note';
  readonly message: string;
}

/** Parts of an expression with a surprising meaning. Empty for an invalid expression. */
export function oddities(spec: string): CronOddity[] {
  return cronFields(spec).match(
    (fields) => [
      ...meaninglessFields(fields),
      ...ordered(fields).flatMap(([name, text]) => entriesOf(text, name).flatMap((entry) => emptyRange(entry, name))),
      ...entriesOf(fields.dayOfWeek, 'day-of-week').flatMap((entry) => [...paddedDay(entry), ...rangeToSunday(entry)]),
      ...eitherDay(fields),
      ...ordered(fields).flatMap(([name, text]) =>
        entriesOf(text, name).flatMap((entry) => unevenInterval(entry, name)),
      ),
    ],
    () => [],
  );
}

function ordered({ second, minute, hour, dayOfMonth, month, dayOfWeek, year }: CronFields): [FieldName, string][] {
  return [
    ['second', second],
    ['minute', minute],
    ['hour', hour],
    ['day-of-month', dayOfMonth],
    ['month', month],
    ['day-of-week', dayOfWeek],
    ['year', year],
  ];
}

function meaninglessFields({ rest }: CronFields): CronOddity[] {
  return rest === 0 ? [] : trap(`it has ${rest + 7} fields: those after the seventh are ignored`);
}

function emptyRange(entry: CronEntry, name: FieldName): CronOddity[] {
  if (entry.kind !== 'range' || entry.from <= entry.to || isUntilSunday(entry, name)) return [];
  return trap(`${quoted(entry.text)} in the ${name} field ends before it begins, so it matches nothing`);
}

function rangeToSunday(entry: CronEntry): CronOddity[] {
  if (entry.kind !== 'range' || !isUntilSunday(entry, 'day-of-week')) return [];
  return trap(`${quoted(entry.text)} in the day-of-week field ends with Saturday; add ",0" for Sunday`);
}

function isUntilSunday(entry: CronEntry & { readonly kind: 'range' }, name: FieldName): boolean {
  return name === 'day-of-week' && entry.to === 0;
}

function paddedDay({ text }: CronEntry): CronOddity[] {
  const [day] = /(?<![0-9#/])0[1-6]/.exec(text) ?? [];
  return day === undefined
    ? []
    : trap(`${quoted(day)} in the day-of-week field is read as Sunday; write ${day.slice(1)}`);
}

function eitherDay({ dayOfMonth, dayOfWeek }: CronFields): CronOddity[] {
  const isRestricted = (text: string): boolean => !text.split(',').some((entry) => entry === '*' || entry === '?');
  if (!isRestricted(dayOfMonth) || !isRestricted(dayOfWeek)) return [];
  return [{ kind: 'note', message: 'both day fields are restricted: a day that matches either of them is due' }];
}

function unevenInterval(entry: CronEntry, name: FieldName): CronOddity[] {
  const larger = ({ second: 'minute', minute: 'hour', hour: 'day' } as Partial<Record<FieldName, string>>)[name];
  if (larger === undefined || entry.kind !== 'range' || !entry.text.startsWith('*')) return [];
  if (fieldSpan(name) % entry.step === 0) return [];
  const message = `${quoted(entry.text)} in the ${name} field restarts in every ${larger}, so the last interval is shorter`;
  return [{ kind: 'note', message }];
}

function trap(message: string): CronOddity[] {
  return [{ kind: 'trap', message }];
}
