/* How results of the site's search are ordered. Sphinx calls score() with [page, title, anchor, description, score,
   file]; the numbers are its own defaults. Who searches uses the library: guides and the reference come first, and
   pages for developers of the library last. */
const order = [
  [/^guides\//, 16],
  [/^(reference\/(?!python|cpp)|tool$|man\/|coders$|debugging$|python$|rust$)/, 4],
  [/^(decisions\/|changelog$|requirements$|house$|design$|glossary$|threat-model$|libcurl-state$)/, -12],
];

var Scorer = {
  score: ([page, , , , score]) => score + order.reduce((sum, [pages, more]) => sum + (pages.test(page) ? more : 0), 0),
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
