import { useLayoutEffect, useRef } from 'preact/hooks';
import type { LateView, Page } from '../state/page.ts';
import { galleryOf } from './state.ts';

/** The campaign as a drawing. Its nodes lead to what they stand for. */
export const graphView: LateView = {
  name: 'graph',
  Component: GraphView,
  move: () => undefined,
};

function GraphView({ page }: { page: Page }) {
  const place = useRef<HTMLDivElement>(null);
  const { graph } = galleryOf(page).report;
  useLayoutEffect(() => {
    const drawing = graph === undefined ? undefined : readDrawing(graph);
    if (drawing === undefined || place.current === null) return;
    const { svg, styles } = drawing;
    for (const node of svg.querySelectorAll<SVGGElement>('[data-task]')) makeButton(page, node);
    place.current.replaceChildren(svg);
    document.adoptedStyleSheets = [...document.adoptedStyleSheets, styles];
    return () => {
      document.adoptedStyleSheets = document.adoptedStyleSheets.filter((sheet) => sheet !== styles);
    };
  }, [graph]);
  return <div class="graph" ref={place} />;
}

const rules = /<style>([^<]*)<\/style>/g;

/**
 * The drawing as an element of this page. Its rules become a style sheet of the page's own, as the policy of the page takes
 * none that stand in a text; whatever could act is left out.
 */
function readDrawing(text: string): { svg: SVGSVGElement; styles: CSSStyleSheet } | undefined {
  const { documentElement } = new DOMParser().parseFromString(text.replace(rules, ''), 'image/svg+xml');
  if (documentElement.localName !== 'svg') return undefined;
  const styles = new CSSStyleSheet();
  styles.replaceSync([...text.matchAll(rules)].map(([, own]) => own).join('\n'));
  for (const other of documentElement.querySelectorAll('style, script, foreignObject, a, image, use')) other.remove();
  for (const element of [documentElement, ...documentElement.querySelectorAll('*')]) {
    for (const { name } of [...element.attributes]) if (/^on|href$/i.test(name)) element.removeAttribute(name);
  }
  const svg = document.importNode(documentElement, true) as unknown as SVGSVGElement;
  // Its parts can be pressed, so that it is more than a picture.
  svg.setAttribute('role', 'group');
  return { svg, styles };
}

function makeButton(page: Page, node: SVGGElement): void {
  const task = node.dataset.task ?? '';
  const lead = () => {
    page.clearFilter();
    page.setFilter({ task });
    page.open('grid');
  };
  node.setAttribute('role', 'button');
  node.setAttribute('tabindex', '0');
  node.setAttribute('aria-label', node.querySelector('title')?.textContent ?? task);
  node.addEventListener('click', lead);
  node.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' && event.key !== ' ') return;
    event.preventDefault();
    lead();
  });
}
