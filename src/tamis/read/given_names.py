"""Common given names of several languages, to tell names of people from other texts.

Everyday words, places and months are left out: a column of towns is not a column of people. So are
accents, as in the texts that are compared.
"""

_NAMES = """
aaron abdul abdullah abigail adam adrian adriana agnes agnieszka ahmad ahmed aidan aisha ajay
akira alan albert alberto alejandro aleksandr alessandro alessia alexander alexandra alexandre
alexei alexis alfred alfredo ali alice alicia alison amanda amelia amina amit amy ana anastasia
anders andrea andreas andrei andres andrew andrzej angela anil anita ann anna anne annette annie
anthony antoine anton antonio arjun arnaud arthur artur ashley astrid audrey aurelie ayse barbara
beatrice beatriz ben benjamin bernard bernd bert beth bianca bjorn bob boris brandon brenda brian
bridget britta brittany bruno bryan camille carl carla carlos carmen carol caroline carolyn
carsten catherine cathy cecilia charles cheryl chloe chris christa christina christine christophe
christopher claire clara claude claudia claudio clement colin connor craig cristina cynthia daniel
daniela daniele danielle darren dave david deborah deepak denis denise dennis derek diana diane
diego dieter dimitri dmitri dominik dominique donald donna doris dorothy douglas duncan edgar
eduardo edward edwin elaine eleanor elena eli elias elisa elisabeth elise elizabeth ella ellen
elsa emil emilia emilie emily emma emmanuel enrique eric erica erik erika ernst esther ethan
eugene eva evelyn ewa fabian fabio fabrice fatima federica federico felix fernanda fernando filip
filippo fiona florian francesca francesco francisco franck francois franz frederic frederick
fredrik friedrich fritz gabriel gabriela gabriele gary geoffrey georg george gerald gerard gerhard
gert gillian gina giorgio giovanni giulia giuseppe gloria gordon graham greg gregory guido
guillaume gunter gustav guy hannah hans harald harold harry hasan hassan heather heidi heike
heinrich heinz helen helena helene helga helmut henri henrik henry herbert hiroshi holger howard
hugh hugo hussein ian ibrahim ida igor ines inga ingrid irene irina isaac isabel isabella isabelle
ivan jack jacob jacqueline jacques jakob jakub james jamie jan jana jane janet janice jason javier
jean jeff jeffrey jennifer jens jeremy jerome jerry jessica jesus jill jim jitendra joan joana
joanna joao joe joel joerg johan johann johanna john johnny jon jonas jonathan jorge jose josef
joseph josephine joshua joyce juan judith judy julia julian juliana julie julien juliette jurgen
justin kaitlyn karen karin karina karl karolina katarina katarzyna kate katharina katherine
kathleen kathryn kathy katja katrin keith kelly ken kenji kenneth kerstin kevin khalid kim
kimberly klara klaus konrad kristen kristin kristina krystyna krzysztof kumar kurt kyle lakshmi
lars laura lauren laurence laurent lea leila lena leo leon leonard leonardo leslie lin linda lisa
lorenzo lothar louis louise luc luca lucas lucia luciana lucie lucy luis luisa lukas luke lydia
maciej magdalena mahmoud malgorzata manfred manuel manuela marc marcel marcela marcelo marcin
marco marcos marcus margaret margarita maria mariana marianne marie marina mario marion marjorie
markus marta martha martin martina martine mary marzena massimo mateusz mathias mathieu mathilde
matteo matthew matthias maurice maurizio maximilian megan mehmet melanie melissa michael michaela
michal michel michele michelle miguel mike mikhail milan mina mohamed mohammad mohammed molly
monica monika morten muhammad mustafa nadia nadine nancy naomi natalia natalie natasha nathalie
nathan neha neil niamh nicholas nick nicola nicolas nicole niels nikhil nikolai nina noah noemie
nora norbert norma nuno olaf oleg olga oliver olivia olivier omar oscar osman pablo pamela paola
paolo pascal patrice patricia patrick paul paula pauline pawel pedro peter petra phil philip
philipp philippe phillip pierre pilar piotr pradeep priya rachel rafael rahul rainer raj rajesh
ralf ralph ramesh ramon raphael raquel raul raymond rebecca regina reinhard renate renato rene
ricardo richard rita robert roberta roberto roger roland rolf roman ronald rosa rosemary ross
roxanne roy rudolf russell ruth ryan sabine sally salma salvatore sam samantha samir samuel sandra
sandrine sanjay santiago sara sarah satoshi scott sean sebastian sebastien serge sergei sergio
shane shannon sharon shaun sheila shirley sigrid silke silvia simon simone siobhan sofia sonia
sophia sophie stanislaw stefan stefania stefano steffen stella stephan stephanie stephen steve
steven stuart sunil suresh susan susana susanne suzanne svein sven svetlana sylvia sylvie takashi
tamara tanja tanya tara tatiana teresa terry thea theodor theresa therese thierry thomas tiago tim
timothy tina tobias todd tom tomas tomasz tony torsten tracy trevor udo ulrich ulrike ursula ute
valentina valerie vanessa vera veronica veronika vicente victor vijay vikram viktor vincent
vladimir volker walter wanda wayne wendy werner wilfried wilhelm william wolfgang xavier yasmin
yolanda yosef youssef yuki yuri yusuf yvonne zeynep zoe zofia zsofia
"""
GIVEN_NAMES = frozenset(_NAMES.split())
