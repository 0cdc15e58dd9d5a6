import { Component, type ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { preferences } from '../app/preferences.js';
import { counted } from '../rules/durations.js';
import { type HeldRows, heldRows } from '../rules/lists.js';

export interface Column<T> {
  readonly key: string;
  readonly title: string;
  readonly isNumber?: boolean;
  /** The order that the server gives for this column, without a sign. */
  readonly sort?: string;
  readonly cell: (row: T) => ComponentChildren;
}

interface TableProps<T> {
  /** The name of the table, for screen readers. */
  readonly name: string;
  readonly columns: readonly Column<T>[];
  readonly rows: readonly T[];
  readonly idOf: (row: T) => string;
  readonly sort?: { readonly by: string; readonly change: (by: string) => void };
  readonly selection?: Selection;
  /** Whether the server has further rows, and how to get them. */
  readonly more?: { readonly isLoading: boolean; readonly load: () => void } | undefined;
  /** Called with the rows that are in the document, from one to before another, when they have changed and scrolling pauses. */
  readonly show?: (from: number, to: number) => void;
}

interface Selection {
  readonly ids: ReadonlySet<string>;
  readonly toggle: (id: string) => void;
  readonly nameOf: (id: string) => string;
}

/** Lists of at most this many rows are in the document as a whole. */
const mostWhole = 40;
const heights = { comfortable: 40, compact: 28 };
/** Rows above and below what is visible. */
const margin = 8;
/** Milliseconds. */
const pauseOfScroll = 100;

/** A table with only its visible rows in the document, however long the list is. */
export function DataTable<T>({ name, columns, rows, idOf, sort, selection, more, show }: TableProps<T>) {
  const isWindowed = rows.length > mostWhole;
  const height = heights[preferences.value.density];
  const box = useRef<HTMLElement>(null);
  const [from, to] = useVisible(box, rows.length, height, isWindowed);
  const shown = isWindowed ? rows.slice(from, to) : rows;
  const [first, end] = isWindowed ? [from, to] : [0, rows.length];
  useEffect(() => {
    if (show === undefined) return undefined;
    const timer = setTimeout(() => show(first, end), pauseOfScroll);
    return () => clearTimeout(timer);
  }, [first, end]);
  const width = columns.length + (selection === undefined ? 0 : 1);
  useEffect(() => {
    if (more !== undefined && !more.isLoading && isWindowed && to >= rows.length - 10) more.load();
  }, [to, rows.length, more?.isLoading]);
  const spacer = (count: number) =>
    count > 0 && (
      <tr>
        <td colSpan={width} style={{ height: `${count * height}px`, padding: 0, border: 0 }} />
      </tr>
    );
  return (
    <>
      <section
        ref={box}
        class={isWindowed ? 'window' : 'window scroll'}
        style={isWindowed ? { height: '70vh' } : {}}
        tabIndex={0}
        aria-label={name}
      >
        <table aria-rowcount={more === undefined ? rows.length + 1 : -1}>
          <thead>
            <tr aria-rowindex={1}>
              {selection !== undefined && (
                <th scope="col">
                  <span class="sr">Selected</span>
                </th>
              )}
              {columns.map((column) => (
                <HeadCell key={column.key} column={column} sort={sort} />
              ))}
            </tr>
          </thead>
          <tbody>
            {spacer(isWindowed ? from : 0)}
            {shown.map((row, at) => (
              <Row
                key={idOf(row)}
                id={idOf(row)}
                row={row}
                columns={columns}
                index={(isWindowed ? from : 0) + at + 2}
                selection={selection}
                isSelected={selection?.ids.has(idOf(row)) === true}
              />
            ))}
            {spacer(isWindowed ? rows.length - to : 0)}
          </tbody>
        </table>
      </section>
      {more !== undefined && (
        <p class="actions">
          <span class="hint">The first {counted(rows.length, 'row')} are shown; there are more.</span>
          <button type="button" disabled={more.isLoading} onClick={more.load}>
            {more.isLoading ? 'Loading more…' : 'Load more'}
          </button>
        </p>
      )}
    </>
  );
}

function HeadCell<T>({ column, sort }: { readonly column: Column<T>; readonly sort: TableProps<T>['sort'] }) {
  const { title, isNumber = false } = column;
  const style = isNumber ? 'number' : '';
  if (column.sort === undefined || sort === undefined)
    return (
      <th scope="col" class={style}>
        {title}
      </th>
    );
  const direction = sort.by === column.sort ? 'ascending' : sort.by === `-${column.sort}` ? 'descending' : undefined;
  const next = direction === 'descending' ? column.sort : `-${column.sort}`;
  return (
    <th scope="col" class={style} {...(direction === undefined ? {} : { 'aria-sort': direction })}>
      <button type="button" onClick={() => sort.change(next)}>
        {title} {direction === 'ascending' ? '↑' : direction === 'descending' ? '↓' : ''}
      </button>
    </th>
  );
}

interface RowProps<T> {
  readonly id: string;
  readonly row: T;
  readonly columns: readonly Column<T>[];
  readonly index: number;
  readonly selection: Selection | undefined;
  readonly isSelected: boolean;
}

function Row<T>({ id, row, columns, index, selection, isSelected }: RowProps<T>) {
  return (
    <tr aria-rowindex={index} class={isSelected ? 'selected' : ''} data-row={id}>
      {selection !== undefined && (
        <td>
          <input
            type="checkbox"
            checked={isSelected}
            aria-label={`Select ${selection.nameOf(id)}`}
            onChange={() => selection.toggle(id)}
          />
        </td>
      )}
      <Cells row={row} columns={columns} />
    </tr>
  );
}

/** Rendered again only when the record has changed, also when the row has another place. */
class Cells<T> extends Component<Pick<RowProps<T>, 'row' | 'columns'>> {
  override shouldComponentUpdate(next: Pick<RowProps<T>, 'row' | 'columns'>): boolean {
    return next.row !== this.props.row || next.columns !== this.props.columns;
  }

  override render({ row, columns }: Pick<RowProps<T>, 'row' | 'columns'>) {
    return columns.map(({ key, isNumber, cell }) => (
      <td key={key} class={isNumber === true ? 'number' : ''}>
        {cell(row)}
      </td>
    ));
  }
}

/** The first and the end of the rows that are visible. */
function useVisible(
  box: { readonly current: HTMLElement | null },
  count: number,
  height: number,
  isActive: boolean,
): readonly [number, number] {
  const [range, setRange] = useState<readonly [number, number]>([0, 30]);
  useEffect(() => {
    const element = box.current;
    if (element === null || !isActive) return;
    const measure = (): void => {
      const first = Math.max(0, Math.floor(element.scrollTop / height) - margin);
      const end = Math.ceil((element.scrollTop + element.clientHeight) / height) + margin;
      setRange((old) => (old[0] === first && old[1] === end ? old : [first, end]));
    };
    measure();
    element.addEventListener('scroll', measure, { passive: true });
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => {
      element.removeEventListener('scroll', measure);
      observer.disconnect();
    };
  }, [isActive, height]);
  return [Math.min(range[0], Math.max(0, count - 1)), Math.min(range[1], count)];
}

/** The rows in the order in which they are shown: it stays while the list is held (hovered, focused, selected), until `show`. */
export function useSteadyRows<T>(
  rows: readonly T[],
  idOf: (row: T) => string,
  isHeld: boolean,
): HeldRows<T> & { readonly show: () => void } {
  const shown = useRef<readonly T[]>(rows);
  const [, render] = useState(0);
  if (!isHeld || shown.current.length === 0) {
    shown.current = rows;
    return { rows, changes: 0, show: () => undefined };
  }
  const held = heldRows(shown.current, rows, idOf);
  shown.current = held.rows;
  const show = (): void => {
    shown.current = rows;
    render((count) => count + 1);
  };
  return { ...held, show };
}
