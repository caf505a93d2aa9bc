import type { Diagnostic } from '../../ground/diagnostic.ts';
import type { Json } from '../../ground/json.ts';
import { isMap, type Path } from '../../ground/values.ts';
import { parseTemplate } from '../../manifest/template/parse-template.ts';
import {
  isTemplate,
  type NamePath,
  type ParsedTemplate,
  type Template,
  type TemplateFault,
} from '../../manifest/template/template.ts';
import type { Places } from '../../manifest/yaml/places.ts';

export interface TemplateSite {
  text: string;
  path: Path;
  /** Omitted when the template cannot be parsed, which was reported. */
  template?: Template;
}

/** Parses each text once, even if several tasks and steps use it. */
export class Templates {
  readonly #parsed = new Map<string, ParsedTemplate>();
  readonly #unsound = new Set<string>();

  get(text: string): Template | undefined {
    return this.parse(text).template;
  }

  parse(text: string): ParsedTemplate {
    const known = this.#parsed.get(text);
    if (known !== undefined) return known;
    const result = parseTemplate(text);
    this.#parsed.set(text, result);
    return result;
  }

  /** Returns the names in all texts that were parsed. */
  *paths(): Iterable<NamePath> {
    for (const { paths } of this.#parsed.values()) yield* paths;
  }

  markUnsound(path: Path): void {
    this.#unsound.add(path.join('\n'));
  }

  /** Returns whether the text at this path may be rendered. A wrong text is reported once and not by each step. */
  isSound(path: Path): boolean {
    return this.#unsound.size === 0 || !this.#unsound.has(path.join('\n'));
  }
}

export function findTemplates(value: Json, path: Path): TemplateSite[] {
  const sites: TemplateSite[] = [];
  const visit = (item: Json, at: Path): void => {
    if (typeof item === 'string') {
      if (isTemplate(item)) sites.push({ text: item, path: at });
    } else if (Array.isArray(item)) {
      for (const [index, child] of item.entries()) visit(child, [...at, index]);
    } else if (isMap(item)) {
      for (const [key, child] of Object.entries(item)) visit(child, [...at, key]);
    }
  };
  visit(value, path);
  return sites;
}

/** Returns the column of the row that a value with templates depends on. Undefined for none, and for several. */
export function columnIn(value: Json, templates: Templates): string | undefined {
  const paths = findTemplates(value, []).flatMap(({ text }) => templates.get(text)?.paths ?? []);
  const [column, another] = new Set(
    paths.flatMap(({ parts: [root, name] }) => (root === 'row' && name !== undefined ? [name] : [])),
  );
  return another === undefined ? column : undefined;
}

export function placeFault(fault: TemplateFault, site: { text: string; path: Path }, places: Places): Diagnostic {
  const place = places.within(site.path, { text: site.text, start: fault.start, end: fault.end });
  // If the part is not found in the source, the place is the whole text.
  const isExact = place.end.offset - place.start.offset === fault.end - fault.start;
  const { code, message, hint, meant } = fault;
  const fix = meant !== undefined && isExact ? { place, text: meant } : undefined;
  return { code, severity: 'error', message, hint, place, fix };
}
